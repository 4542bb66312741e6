import { memberText } from '@belfry/domain/member-text'

/** A payload as the JSON text that it is: parsed, numbers beyond 2^53 would change. */
export class PayloadText {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/** Serialises a body, into which a `PayloadText` goes as it is. */
export function toBodyText(body: unknown): string {
  const { payload, ...rest } = Object(body) as { payload?: unknown }
  if (!(payload instanceof PayloadText)) return JSON.stringify(body)
  const text = JSON.stringify(rest)
  return `${text.slice(0, -1)}${text === '{}' ? '' : ','}"payload":${payload.text}}`
}

/** Parses an answer. The payload of an object becomes a `PayloadText`, unless it is null. */
export function parseAnswer(text: string): unknown {
  const answer: unknown = JSON.parse(text)
  const hasPayload = typeof answer === 'object' && answer !== null && 'payload' in answer && answer.payload !== null
  return hasPayload ? { ...answer, payload: new PayloadText(memberText(text, ['payload']) ?? 'null') } : answer
}
