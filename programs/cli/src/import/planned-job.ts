import type { CreateCronJob } from '@belfry/client'
import { parseCron } from '@belfry/domain/cron/parse-cron'
import { isTimeZone } from '@belfry/domain/cron/zone-pieces'
import { findHeaderProblems } from '@belfry/domain/request-headers'
import { checkTargetUrl } from '@belfry/domain/target-url'

/** A cron job for an entry of a file, or the reason why there is none. */
export type ImportedEntry = Imported | { place: string; refusal: string }
export type Imported = { place: string; job: PlannedJob; isPaused: boolean; notes: string[] }

/** A cron job to create. */
export type PlannedJob = CreateCronJob & {
  name: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  timezone: string
}

/** An entry cannot be imported. */
export class ImportRefusal extends Error {
  override name = 'ImportRefusal'
}

/** Returns the entry that a part of a file becomes. */
export function toEntry(place: string, read: () => Omit<Imported, 'place'>): ImportedEntry {
  try {
    const entry = read()
    const refusal = findProblem(entry.job)
    return refusal === null ? { place, ...entry } : { place, refusal }
  } catch (error) {
    if (error instanceof ImportRefusal) return { place, refusal: error.message }
    throw error
  }
}

/** Returns why Belfry refuses a cron job; null when it does not. */
function findProblem({ name, targetUrl, cron, timezone, headers = {} }: PlannedJob): string | null {
  const parsed = parseCron(cron)
  if (!parsed.ok) return parsed.message
  if (!isTimeZone(timezone)) return `${timezone} is not a time zone name of the IANA database.`
  const url = checkTargetUrl(String(targetUrl))
  if (url !== null) return `The URL is invalid: ${url}`
  const [header] = findHeaderProblems(headers)
  if (header) return `The header ${header.name} is refused. ${header.message}`
  return name.length > 200 ? 'The name has more than 200 characters.' : null
}

// Names of expressions in other schedulers.
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

/** Returns the five fields of a name such as `@daily`. */
export function expandMacro(text: string): string {
  const fields = macros[text.toLowerCase()]
  if (fields) return fields
  if (text.toLowerCase() === '@reboot') throw new ImportRefusal('@reboot is not supported, because it is not a time.')
  throw new ImportRefusal(`${text} is not a known name for five fields.`)
}

/** Returns the payload that Belfry sends as exactly this text with these headers. */
export function toPayload(body: string, headers: Readonly<Record<string, string>>): string {
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1]
  if (type !== undefined && !/[/+]json\b/i.test(type)) return JSON.stringify(body)
  try {
    JSON.parse(body)
    return body
  } catch {
    throw new ImportRefusal(`The body is not JSON, but its content type is ${type ?? 'missing, which means JSON'}.`)
  }
}
