import { toSnake } from './case.ts'
import type { PayloadInput } from './types.ts'

type Dispatch = {
  targetUrl?: string
  method?: string
  payload?: PayloadInput
}

/** Returns the JSON text of a request body. */
export function toBody(fields: object): string {
  return JSON.stringify(toSnake(fields))
}

/** Returns the JSON text of a body with a request, with the names of the HTTP API and an unchanged payload. */
export function toDispatchBody({ targetUrl, method, ...rest }: Dispatch): string {
  return withPayload({
    ...rest,
    ...(targetUrl === undefined ? {} : { url: targetUrl }),
    ...(method === undefined ? {} : { method: method.toUpperCase() }),
  })
}

/** Returns the JSON text of a body. A payload that is text is already JSON and stays unchanged. */
export function withPayload({ payload, ...rest }: { payload?: PayloadInput }): string {
  const text = toBody(rest)
  if (payload === undefined) return text
  return `${text.slice(0, -1)}${text === '{}' ? '' : ','}"payload":${payloadText(payload)}}`
}

function payloadText(payload: PayloadInput): string {
  if (typeof payload !== 'string') return JSON.stringify(payload)
  try {
    JSON.parse(payload)
  } catch (error) {
    throw new TypeError('payload is text, but not JSON. Pass a value, or JSON.stringify(text) to send a JSON string.', {
      cause: error,
    })
  }
  return payload
}
