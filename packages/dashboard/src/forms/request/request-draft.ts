import type { Task } from '@belfry/contract/task'
import type { Body } from '../../api/call.ts'
import { PayloadText } from '../../api/payload-text.ts'
import { type FlowBody, flowBodyOf, flowDraftOf } from './flow-draft.ts'
import { indentJson } from './json-text.ts'
import { retryBodyOf, retryDraftOf } from './retry-draft.ts'

/** The fields of a request, as the user types them. */
export type RequestDraft = ReturnType<typeof draftOf>

export type HeaderRow = RequestDraft['headers'][number]

/** The fields that the requests of tasks and cron jobs have in common, as they are stored. */
type StoredRequest = Pick<Task, 'url' | 'method' | 'headers' | 'retry' | 'timeout_ms'> & {
  [Name in 'payload' | 'payload_base64' | 'content_type']?: Task[Name] | undefined
} & Partial<FlowBody>

/** Converts a stored request to the fields of the form. Default: the fields of a new one. */
export function draftOf(request: Partial<StoredRequest> = {}) {
  const { payload, payload_base64: bytes, content_type: type } = request
  return {
    url: request.url ?? '',
    method: (request.method ?? 'POST') as Body<'createTask'>['method'], // the API stores only these
    headers: Object.entries(request.headers ?? {}).map(([name, value], id) => ({ id, name, value })),
    payload: payload instanceof PayloadText ? (indentJson(payload.text) ?? payload.text) : '',
    // Sent while the payload is empty.
    rawBody: bytes == null || !type ? null : { payload_base64: bytes, content_type: type },
    ...retryDraftOf(request.retry, request.timeout_ms),
    ...flowDraftOf(request),
  }
}

/** Converts a draft to a body. Only for a draft that passes `checkRequest`. */
export function bodyOf(draft: RequestDraft) {
  return {
    url: draft.url.trim(),
    method: draft.method,
    headers: headersOf(draft),
    ...contentOf(draft),
    ...retryBodyOf(draft),
    ...flowBodyOf(draft),
  }
}

// The API takes a content type as a field or as a header.
function contentOf(draft: RequestDraft): Pick<Body<'createTask'>, 'payload' | 'payload_base64' | 'content_type'> {
  const text = draft.payload.trim()
  if (text !== '') return { payload: new PayloadText(text) }
  if (draft.rawBody === null) return {}
  const { payload_base64, content_type } = draft.rawBody
  const hasType = draft.headers.some(({ name }) => name.trim().toLowerCase() === 'content-type')
  return hasType ? { payload_base64 } : { payload_base64, content_type }
}

/** Returns the headers of the rows that are filled in. */
export function headersOf({ headers }: RequestDraft): Record<string, string> {
  return Object.fromEntries(filledRows(headers).map(({ name, value }) => [name.trim(), value]))
}

/** Drops rows whose name and value are both empty. */
export function filledRows(headers: readonly HeaderRow[]): readonly HeaderRow[] {
  return headers.filter(({ name, value }) => name.trim() !== '' || value !== '')
}

/** Returns the fields of a body that differ from the stored ones. */
export function changesOf<T extends object>(body: T, stored: object): Partial<T> {
  const before = new Map(Object.entries(stored))
  const changed = Object.entries(body).filter(([name, value]) => !isSame(value, before.get(name)))
  return Object.fromEntries(changed) as Partial<T> // a subset of its entries
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(comparable(a)) === JSON.stringify(comparable(b))
}

// Whitespace between tokens does not change a payload.
function comparable(value: unknown): unknown {
  return value instanceof PayloadText ? { payload: indentJson(value.text) ?? value.text } : (value ?? null)
}
