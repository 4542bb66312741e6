import { AppError } from '@belfry/domain/app-error'
import { isTimeZone } from '@belfry/domain/cron/zone-pieces'
import { retryDelays } from '@belfry/domain/qstash/retry-delays'
import { timeoutLimits } from '@belfry/domain/timeout'
import { expandMacro, type ImportedEntry, ImportRefusal, type PlannedJob, toEntry, toPayload } from './planned-job.ts'

type Schedule = Record<string, unknown>

const methods = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

// Set by QStash or by its connection, not by the author of the schedule.
const ofDelivery =
  /^(upstash-|host$|content-length$|connection$|transfer-encoding$|accept-encoding$|user-agent$|x-forwarded-|cf-)/i

/** Parses the response of QStash's `GET /v2/schedules`. */
export function readQstash(text: string): ImportedEntry[] {
  return toSchedules(text).map((schedule, i) => {
    const id = textOf(schedule, 'scheduleId')
    return toEntry(id ?? `schedule ${i + 1}`, () => readSchedule(schedule, id))
  })
}

function toSchedules(text: string): Schedule[] {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new ImportRefusal(`The file is not JSON: ${error instanceof Error ? error.message : error}`)
  }
  const list = isObject(value) && Array.isArray(value.schedules) ? value.schedules : [value].flat()
  if (list.every(isObject)) return list
  throw new ImportRefusal('The file is not a list of schedules in the format of GET /v2/schedules.')
}

function readSchedule(schedule: Schedule, id: string | undefined) {
  const targetUrl = textOf(schedule, 'destination') ?? ''
  if (!/^https?:\/\//i.test(targetUrl)) {
    throw new ImportRefusal(
      `Its destination ${targetUrl} is not a URL. Replace a URL group by subscriptions to a topic.`,
    )
  }
  const { cron, timezone } = readCron(textOf(schedule, 'cron') ?? '')
  const headers = readHeaders(schedule.header)
  const body = readBody(schedule)
  const asked = (textOf(schedule, 'method') ?? 'POST').toUpperCase()
  const method = methods.find(one => one === asked)
  if (!method) throw new ImportRefusal(`Belfry does not support the method ${asked}.`)
  const label = textOf(schedule, 'label') ?? `${method} ${targetUrl.replace(/^https?:\/\//, '')}`
  const job: PlannedJob = {
    name: `${label.slice(0, 150)}${id ? ` (${id})` : ''}`.slice(0, 200),
    targetUrl,
    method,
    cron,
    timezone,
    ...(Object.keys(headers).length > 0 ? { headers } : {}),
    ...(body === null ? {} : { payload: toPayload(body, headers) }),
    ...retryOf(schedule),
    ...timeoutOf(schedule),
  }
  return { job, isPaused: schedule.isPaused === true, notes: notesOf(schedule) }
}

function readCron(text: string): { cron: string; timezone: string } {
  const [, timezone = 'UTC', expression = ''] = /^(?:(?:CRON_TZ|TZ)=(\S+)\s+)?(.*)$/.exec(text.trim()) ?? []
  if (!isTimeZone(timezone)) throw new ImportRefusal(`${timezone} is not a time zone name of the IANA database.`)
  const fields = expression.trim().split(/\s+/).join(' ')
  return { cron: fields.startsWith('@') ? expandMacro(fields) : fields, timezone }
}

function readHeaders(header: unknown): Record<string, string> {
  if (!isObject(header)) return {}
  const entries = Object.entries(header).flatMap(([name, value]): Array<[string, string]> => {
    const values = [value].flat().filter(one => typeof one === 'string')
    return ofDelivery.test(name) || values.length === 0 ? [] : [[name, values.join(', ')]]
  })
  return Object.fromEntries(entries)
}

function readBody(schedule: Schedule): string | null {
  const base64 = textOf(schedule, 'bodyBase64')
  if (base64 === undefined) return textOf(schedule, 'body') ?? null
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(Buffer.from(base64, 'base64'))
  } catch {
    throw new ImportRefusal('Its body is not text, and the import converts text only.')
  }
}

function retryOf({ retries, retryDelayExpression: expression }: Schedule): Pick<PlannedJob, 'retry'> {
  if (typeof retries !== 'number') return {}
  const maxRetries = Math.min(20, Math.max(0, Math.trunc(retries)))
  if (typeof expression !== 'string' || expression === '' || maxRetries === 0) return { retry: { maxRetries } }
  try {
    return { retry: { delaysMs: retryDelays(maxRetries, expression) } }
  } catch (error) {
    throw error instanceof AppError ? new ImportRefusal(error.message) : error
  }
}

// The timeout is a number of seconds, or text such as "30s".
function timeoutOf({ timeout }: Schedule): Pick<PlannedJob, 'timeoutMs'> {
  const seconds = typeof timeout === 'string' ? Number(/^(\d+)s?$/.exec(timeout)?.[1]) : Number(timeout ?? Number.NaN)
  const { min, max } = timeoutLimits
  return seconds > 0 ? { timeoutMs: Math.min(max, Math.max(min, Math.round(seconds * 1000))) } : {}
}

function notesOf(schedule: Schedule): string[] {
  const has = (...names: string[]) => names.some(name => Boolean(schedule[name]))
  const limits = has('flowControlKey', 'parallelism', 'rate', 'queueName', 'queue')
  return [
    ...(has('callback', 'failureCallback') ? ['callbacks are not imported; set them on the cron job'] : []),
    ...(has('delay') ? [`the delay of ${schedule.delay} s after each time is not imported`] : []),
    ...(limits ? ['queues and flow control are not imported; create a queue and set queue of the cron job'] : []),
    ...(Number(schedule.retries) > 20 ? ['the maximum is 20 retries'] : []),
    ...(Number(String(schedule.timeout ?? 0).replace(/s$/, '')) * 1000 > timeoutLimits.max
      ? [`the maximum time of an attempt is ${timeoutLimits.max / 1000} s`]
      : []),
  ]
}

function textOf(schedule: Schedule, name: string): string | undefined {
  const value = schedule[name]
  return typeof value === 'string' && value !== '' ? value : undefined
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
