import type { PayloadInput } from './types.ts'

/** The JSON text of a payload. Text is JSON already; anything else becomes it. */
export function payloadText(payload: PayloadInput): string {
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
