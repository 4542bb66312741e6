import { memberText } from '@belfry/domain/json-text'

/** The JSON text of a payload. Parsing it would change numbers beyond 2^53. */
export class PayloadText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Serializes a request body. A `PayloadText` is inserted unchanged. */
export function toBodyText(body: unknown): string {
  const { payload, ...rest } = Object(body) as { payload?: unknown }
  if (!(payload instanceof PayloadText)) return JSON.stringify(body)
  const text = JSON.stringify(rest)
  return `${text.slice(0, -1)}${text === '{}' ? '' : ','}"payload":${payload.text}}`
}

/** Parses a response body. The payload of an object becomes a `PayloadText`, unless it is null. */
export function parseResponse(text: string): unknown {
  const body: unknown = JSON.parse(text)
  const hasPayload = typeof body === 'object' && body !== null && 'payload' in body && body.payload !== null
  return hasPayload ? { ...body, payload: new PayloadText(memberText(text, ['payload']) ?? 'null') } : body
}
