import { AppError } from '@belfry/domain/app-error'
import { retryDelays } from '@belfry/domain/qstash/retry-delays'
import { timeoutLimits } from '@belfry/domain/timeout'
import { z } from 'zod'
import { type Entry, expandMacro, type Found, ImportRefusal, requestFields } from './entry.ts'
import { jsonEntries, textOfBase64 } from './json-entries.ts'

const text = z.string().min(1).optional().catch(undefined)
const form = z.looseObject({
  ...{ scheduleId: text, label: text, body: text, bodyBase64: text, retryDelayExpression: text },
  cron: z.string().catch(''),
  destination: z.string().catch(''),
  method: z.string().min(1).catch('POST'),
  header: z.record(z.string(), z.unknown()).catch({}),
  retries: z.number().optional().catch(undefined),
  timeout: z.union([z.string(), z.number()]).optional().catch(undefined),
})
type Schedule = z.infer<typeof form>

// Set by QStash or by its connection, not by the author of the schedule.
const ofDelivery =
  /^(upstash-|host$|content-length$|connection$|transfer-encoding$|accept-encoding$|user-agent$|x-forwarded-|cf-)/i

/** Parses the response of QStash's `GET /v2/schedules`. */
export function readQstash(text: string): Entry[] {
  return jsonEntries(text, form, 'scheduleId', readSchedule)
}

function readSchedule(schedule: Schedule): Found {
  const { scheduleId, destination: url, bodyBase64, label } = schedule
  if (!/^https?:\/\//i.test(url)) {
    throw new ImportRefusal(`Its destination ${url} is not a URL. Replace a URL group by subscriptions to a topic.`)
  }
  const body = bodyBase64 === undefined ? (schedule.body ?? null) : textOfBase64(bodyBase64)
  const method = schedule.method.toUpperCase()
  const request = requestFields({ url, method, headers: readHeaders(schedule.header), body })
  const name = `${(label ?? request.name).slice(0, 150)}${scheduleId ? ` (${scheduleId})` : ''}`.slice(0, 200)
  return {
    job: { ...request, name, ...readCron(schedule.cron), retry: retryOf(schedule), timeout_ms: timeoutOf(schedule) },
    isPaused: schedule.isPaused === true,
    notes: notesOf(schedule),
  }
}

function readCron(text: string): { cron: string; timezone: string } {
  const [, timezone = 'UTC', expression = ''] = /^(?:(?:CRON_TZ|TZ)=(\S+)\s+)?(.*)$/.exec(text.trim()) ?? []
  return { cron: expandMacro(expression.trim().split(/\s+/).join(' ')), timezone }
}

function readHeaders(header: Schedule['header']): Record<string, string> {
  const entries = Object.entries(header).flatMap(([name, value]): Array<[string, string]> => {
    const values = [value].flat().filter(one => typeof one === 'string')
    return ofDelivery.test(name) || values.length === 0 ? [] : [[name, values.join(', ')]]
  })
  return Object.fromEntries(entries)
}

function retryOf({ retries, retryDelayExpression: expression }: Schedule): object | undefined {
  if (retries === undefined) return undefined
  const max_retries = Math.min(20, Math.max(0, Math.trunc(retries)))
  if (expression === undefined || max_retries === 0) return { max_retries }
  try {
    return { delays_ms: retryDelays(max_retries, expression) }
  } catch (error) {
    throw error instanceof AppError ? new ImportRefusal(error.message) : error
  }
}

function timeoutOf(schedule: Schedule): number | undefined {
  const { min, max } = timeoutLimits
  const asked = askedTimeoutMs(schedule)
  return asked > 0 ? Math.min(max, Math.max(min, asked)) : undefined
}

// A number of seconds, or text such as "30s".
function askedTimeoutMs({ timeout = 0 }: Schedule): number {
  return Math.round(Number(String(timeout).replace(/s$/, '')) * 1000)
}

function notesOf(schedule: Schedule): string[] {
  const has = (...names: string[]) => names.some(name => Boolean(schedule[name]))
  const limits = has('flowControlKey', 'parallelism', 'rate', 'queueName', 'queue')
  return [
    ...(has('callback', 'failureCallback') ? ['callbacks are not imported; set them on the cron job'] : []),
    ...(has('delay') ? [`the delay of ${schedule.delay} s after each time is not imported`] : []),
    ...(limits ? ['queues and flow control are not imported; create a queue and set queue of the cron job'] : []),
    ...(Number(schedule.retries) > 20 ? ['the maximum is 20 retries'] : []),
    ...(askedTimeoutMs(schedule) > timeoutLimits.max
      ? [`the maximum time of an attempt is ${timeoutLimits.max / 1000} s`]
      : []),
  ]
}
