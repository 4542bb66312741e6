import type { CreateCronJob } from '@belfry/client'
import { checkTargetUrl, findHeaderProblems, isTimeZone, parseCron } from '@belfry/domain'

/** What one entry of a file becomes: a cron job, or a sentence that says why it does not. */
export type ImportedEntry =
  | { place: string; job: PlannedJob; isPaused: boolean; notes: string[] }
  | { place: string; refusal: string }

/** A cron job as it will be made. */
export type PlannedJob = CreateCronJob & { method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'; timezone: string }

/** An entry cannot be brought over. */
export class ImportRefusal extends Error {
  override name = 'ImportRefusal'
}

/** What the rules of Belfry say against a job; null when nothing. */
export function findFault({ name, targetUrl, cron, timezone, headers = {} }: PlannedJob): string | null {
  const parsed = parseCron(cron)
  if (!parsed.ok) return parsed.message
  if (!isTimeZone(timezone)) return `${timezone} is not a time zone of the IANA database.`
  const url = checkTargetUrl(targetUrl)
  if (url !== null) return `The URL is refused: ${url}`
  const [header] = findHeaderProblems(headers)
  if (header) return `The header ${header.name} is refused. ${header.message}`
  return name.length > 200 ? 'The name has more than 200 characters.' : null
}

// Names that other schedulers have for expressions.
const macros: Record<string, string> = {
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
  '@monthly': '0 0 1 * *',
  '@weekly': '0 0 * * 0',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@hourly': '0 * * * *',
  '@every_minute': '* * * * *',
}

/** The five fields that a name such as `@daily` stands for. */
export function expandMacro(text: string): string {
  const fields = macros[text.toLowerCase()]
  if (fields) return fields
  if (text.toLowerCase() === '@reboot') throw new ImportRefusal('@reboot is not a time: nothing reboots here.')
  throw new ImportRefusal(`${text} is not a name that stands for five fields.`)
}

/** The payload that is sent as this text, byte for byte, under these headers. */
export function toPayload(body: string, headers: Readonly<Record<string, string>>): string {
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1]
  if (type !== undefined && !/[/+]json\b/i.test(type)) return JSON.stringify(body)
  try {
    JSON.parse(body)
    return body
  } catch {
    throw new ImportRefusal(
      `The body is not JSON, though its content type is ${type ?? 'not given, which means JSON'}.`,
    )
  }
}
