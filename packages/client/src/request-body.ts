import { toSnake } from './case.ts'
import { parseDuration } from './duration.ts'
import { stringifyJson } from './exact-json.ts'
import type { PayloadInput, TimestampInput } from './types/index.ts'

type Dispatch = {
  name?: string
  targetUrl?: string | URL
  method?: string
  payload?: PayloadInput | Uint8Array
  executeAt?: TimestampInput
  delay?: string | number
}

/** Returns the JSON text of a request body. */
export function toBody(fields: object): string {
  return JSON.stringify(toSnake(fields))
}

/** Returns the JSON text of a new task or cron job, with the default name and method. */
export function toNewBody(fields: Dispatch): string {
  const { name, method = 'POST', targetUrl = '' } = fields
  return toDispatchBody({ ...fields, name: name ?? nameOf(method, String(targetUrl)), method })
}

/** Returns the name of a request without one, such as `POST example.com/hooks/reminder`. */
function nameOf(method: string, url: string): string {
  return `${method.toUpperCase()} ${url.replace(/^https?:\/\//i, '').replace(/[?#].*$/, '')}`.slice(0, 200)
}

/** Returns the JSON text of a body with a request, with the names of the HTTP API and an unchanged payload. */
export function toDispatchBody({ targetUrl, method, delay, ...rest }: Dispatch): string {
  return withPayload({
    ...rest,
    ...(delay === undefined ? {} : { executeAt: timeAfter(delay, rest.executeAt) }),
    ...(targetUrl === undefined ? {} : { url: String(targetUrl) }),
    ...(method === undefined ? {} : { method: method.toUpperCase() }),
  })
}

function timeAfter(delay: string | number, executeAt: TimestampInput | undefined): Date {
  if (executeAt !== undefined) throw new TypeError('Pass either executeAt or delay.')
  return new Date(Date.now() + (typeof delay === 'number' ? delay : parseDuration(delay)))
}

/** Returns the JSON text of a body. A payload that is text is already JSON and stays unchanged. */
export function withPayload({ payload, ...rest }: { payload?: PayloadInput | Uint8Array }): string {
  if (payload instanceof Uint8Array) return toBody({ ...rest, payloadBase64: toBase64(payload) })
  const text = toBody(rest)
  if (payload === undefined) return text
  return `${text.slice(0, -1)}${text === '{}' ? '' : ','}"payload":${payloadText(payload)}}`
}

// `btoa` exists in every runtime. Chunks, because a call has a limited number of arguments.
function toBase64(bytes: Uint8Array): string {
  let binary = ''
  for (let i = 0; i < bytes.length; i += 8_192) binary += String.fromCharCode(...bytes.subarray(i, i + 8_192))
  return btoa(binary)
}

function payloadText(payload: PayloadInput): string {
  if (typeof payload !== 'string') return stringifyJson(payload)
  try {
    JSON.parse(payload)
  } catch (error) {
    throw new TypeError('payload is text, but not JSON. Pass a value, or JSON.stringify(text) to send a JSON string.', {
      cause: error,
    })
  }
  return payload
}
