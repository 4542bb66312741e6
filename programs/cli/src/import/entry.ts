import { parseJson } from '@belfry/client'
import { createCronJobBody } from '@belfry/contract/cron-job'
import { parseInput } from '@belfry/contract/field-errors'
import type { FieldError } from '@belfry/domain/app-error'
import { cronNames } from '@belfry/domain/cron/parse-cron'
import type { Fields } from '../configuration/kinds.ts'
import type { Context } from '../context.ts'

/** Reads a source. `file` is its argument: a file, or a folder. */
export type Read = (ctx: Context, file: string, flags: SourceFlags) => Promise<Entry[]>

/** The options that only some sources have. */
export type SourceFlags = {
  timezone?: string
  users?: boolean
  from?: string
  var?: string[]
  repo?: string
  ref?: string
  origin?: string
  cronSecret?: boolean
  target?: string[]
}

/** A cron job for an entry of a source, or the reason why it cannot be imported. */
export type Entry = Importable | { place: string; refusal: string }

/** `body` is the job as the API reads it, with all defaults. */
export type Importable = { place: string; job: Job; body: Fields; isPaused: boolean; notes: string[] }

/** A cron job to create, with the names of the HTTP API. */
export type Job = Fields & {
  name: string
  url: string
  method: string
  cron: string
  timezone: string
  headers?: Record<string, string> | undefined
  payload?: unknown
}

/** What an entry becomes, and what differs from its source. */
export type Found = { job: Job; isPaused?: boolean; notes?: string[] }

export class ImportRefusal extends Error {
  override name = 'ImportRefusal'
}

export function toEntry(place: string, read: () => Found): Entry {
  try {
    const { job, isPaused = false, notes = [] } = read()
    const parsed = parseInput<Fields>(createCronJobBody, job)
    if (!parsed.ok) throw refusalOf(parsed.errors)
    return { place, job, body: parsed.value, isPaused, notes }
  } catch (error) {
    if (error instanceof ImportRefusal) return { place, refusal: error.message }
    throw error
  }
}

export function refusalOf(errors: readonly FieldError[]): ImportRefusal {
  return new ImportRefusal(
    errors.map(({ path, message }) => (message.startsWith(path) ? message : `${path}: ${message}`)).join(' '),
  )
}

export type Request = { url: string; method: string; headers: Record<string, string>; body: string | null }

/** Returns the fields of a request. Belfry sends the body as this text. */
export function requestFields({ url, method, headers, body }: Request) {
  return {
    name: `${method} ${url.replace(/^https?:\/\//, '')}`.slice(0, 200),
    url,
    method,
    headers: Object.keys(headers).length > 0 ? headers : undefined,
    payload: body === null ? undefined : payloadOf(body, headers),
  }
}

function payloadOf(body: string, headers: Readonly<Record<string, string>>): unknown {
  const type = Object.entries(headers).find(([name]) => name.toLowerCase() === 'content-type')?.[1]
  if (type !== undefined && !/[/+]json\b/i.test(type)) return body
  try {
    return parseJson(body)
  } catch {
    throw new ImportRefusal(`The body is not JSON, but its content type is ${type ?? 'missing, which means JSON'}.`)
  }
}

const macros: Record<string, string> = { ...cronNames, '@every_minute': '* * * * *' }

/** Returns the five fields of a name such as `@daily`; other text stays. */
export function expandMacro(text: string): string {
  if (!text.startsWith('@')) return text
  const fields = macros[text.toLowerCase()]
  if (fields) return fields
  if (text.toLowerCase() === '@reboot') throw new ImportRefusal('@reboot is not supported, because it is not a time.')
  throw new ImportRefusal(`${text} is not a known name for five fields.`)
}
