import { PayloadText } from '../../api/payload-text.ts'
import type { RequestBody } from '../../api/tasks.ts'
import { indentJson } from './indent-json.ts'

export type HeaderRow = { id: number; name: string; value: string }

/** What is typed into the fields of a request, as it is typed. */
export type RequestDraft = {
  url: string
  method: string
  headers: readonly HeaderRow[]
  /** JSON text; empty for none. */
  payload: string
  timeoutSeconds: string
  maxRetries: string
  backoff: string
  baseDelaySeconds: string
  maxDelaySeconds: string
}

export const emptyRequest: RequestDraft = {
  url: '',
  method: 'POST',
  headers: [],
  payload: '',
  timeoutSeconds: '30',
  maxRetries: '5',
  backoff: 'exponential',
  baseDelaySeconds: '10',
  maxDelaySeconds: '3600',
}

/** A stored request as text in the fields. */
export function draftOf(request: Omit<RequestBody, 'payload'> & { payload?: unknown }): RequestDraft {
  const { payload, retry } = request
  return {
    url: request.url,
    method: request.method,
    headers: Object.entries(request.headers).map(([name, value], id) => ({ id, name, value })),
    payload: payload instanceof PayloadText ? (indentJson(payload.text) ?? payload.text) : '',
    timeoutSeconds: String(request.timeout_ms / 1000),
    maxRetries: String(retry.max_retries),
    backoff: retry.backoff,
    baseDelaySeconds: String(retry.base_delay_ms / 1000),
    maxDelaySeconds: String(retry.max_delay_ms / 1000),
  }
}

/** The body that a draft stands for; only for one in which `checkRequest` finds nothing. */
export function bodyOf(draft: RequestDraft): RequestBody {
  return {
    url: draft.url.trim(),
    method: draft.method,
    headers: headersOf(draft),
    ...(draft.payload.trim() === '' ? {} : { payload: new PayloadText(draft.payload.trim()) }),
    retry: {
      max_retries: Number(draft.maxRetries),
      backoff: draft.backoff,
      base_delay_ms: Math.round(Number(draft.baseDelaySeconds) * 1000),
      max_delay_ms: Math.round(Number(draft.maxDelaySeconds) * 1000),
    },
    timeout_ms: Math.round(Number(draft.timeoutSeconds) * 1000),
  }
}

/** The headers of the rows that are filled in. */
export function headersOf({ headers }: RequestDraft): Record<string, string> {
  return Object.fromEntries(filledRows(headers).map(({ name, value }) => [name.trim(), value]))
}

/** Rows of which nothing is filled in do not count. */
export function filledRows(headers: readonly HeaderRow[]): readonly HeaderRow[] {
  return headers.filter(({ name, value }) => name.trim() !== '' || value !== '')
}

/** Those fields of a body that differ from what is stored. */
export function changesOf<Body extends object>(body: Body, stored: object): Partial<Body> {
  const before = new Map(Object.entries(stored))
  const changed = Object.entries(body).filter(([name, value]) => !isSame(value, before.get(name)))
  return Object.fromEntries(changed) as Partial<Body> // some of its own entries
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(comparable(a)) === JSON.stringify(comparable(b))
}

// Blanks outside of texts make no other payload.
function comparable(value: unknown): unknown {
  return value instanceof PayloadText ? { payload: indentJson(value.text) ?? value.text } : (value ?? null)
}
