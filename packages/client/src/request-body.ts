import { payloadText } from './payload.ts'
import type { PayloadInput } from './types.ts'

type Fields = {
  targetUrl?: string
  method?: string
  payload?: PayloadInput
}

/** Puts the fields of a dispatch into the form that the HTTP interface has, whose names differ a little. */
export function toRequestBody<T extends Fields>(fields: T): { body: Record<string, unknown>; payloadText?: string } {
  const { targetUrl, method, payload, ...rest } = fields
  return {
    body: {
      ...rest,
      ...(targetUrl === undefined ? {} : { url: targetUrl }),
      ...(method === undefined ? {} : { method: method.toUpperCase() }),
    },
    ...(payload === undefined ? {} : { payloadText: payloadText(payload) }),
  }
}
