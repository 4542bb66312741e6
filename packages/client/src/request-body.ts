import { toSnake } from './case.ts'
import type { PayloadInput } from './types.ts'

type Dispatch = {
  targetUrl?: string
  method?: string
  payload?: PayloadInput
}

/** The JSON text of a request's body. */
export function toBody(fields: object): string {
  return JSON.stringify(toSnake(fields))
}

/** The JSON text of a body that describes a dispatch, with the names of the HTTP interface and the payload as it is. */
export function toDispatchBody({ targetUrl, method, ...rest }: Dispatch): string {
  return withPayload({
    ...rest,
    ...(targetUrl === undefined ? {} : { url: targetUrl }),
    ...(method === undefined ? {} : { method: method.toUpperCase() }),
  })
}

/** The JSON text of a body whose payload, when it is text, is JSON already and stays as it is. */
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
    throw new TypeError(
      'payload is text, but not JSON text. Pass a value, or JSON.stringify(text) to send a bare JSON string.',
      { cause: error },
    )
  }
  return payload
}
