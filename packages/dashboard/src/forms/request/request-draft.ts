import { type Backoff, backoffs, retryDelayMs } from '@belfry/domain/retry'
import { PayloadText } from '../../api/payload-text.ts'
import type { RequestBody } from '../../api/tasks.ts'
import { indentJson } from './json-text.ts'

const retryLimit = 20

export type HeaderRow = { id: number; name: string; value: string }

/** The fields of a request, as the user types them. */
export type RequestDraft = {
  url: string
  method: string
  headers: readonly HeaderRow[]
  /** JSON text; empty for none. */
  payload: string
  timeoutSeconds: string
  /** The name of the queue; empty for none. */
  queue: string
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
  queue: '',
  maxRetries: '5',
  backoff: 'exponential',
  baseDelaySeconds: '10',
  maxDelaySeconds: '3600',
}

/** Converts a stored request to the fields of the form. */
export function draftOf(request: Omit<RequestBody, 'payload'> & { payload?: unknown }): RequestDraft {
  const { payload, retry } = request
  return {
    url: request.url,
    method: request.method,
    headers: Object.entries(request.headers).map(([name, value], id) => ({ id, name, value })),
    payload: payload instanceof PayloadText ? (indentJson(payload.text) ?? payload.text) : '',
    timeoutSeconds: String(request.timeout_ms / 1000),
    queue: request.queue ?? '',
    maxRetries: String(retry.max_retries),
    backoff: retry.backoff,
    baseDelaySeconds: String(retry.base_delay_ms / 1000),
    maxDelaySeconds: String(retry.max_delay_ms / 1000),
  }
}

/** Converts a draft to a body. Only for a draft in which `checkRequest` finds no error. */
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
    queue: draft.queue.trim() || null,
  }
}

/** Returns the headers of the rows that are filled in. */
export function headersOf({ headers }: RequestDraft): Record<string, string> {
  return Object.fromEntries(filledRows(headers).map(({ name, value }) => [name.trim(), value]))
}

/** Drops rows with neither a name nor a value. */
export function filledRows(headers: readonly HeaderRow[]): readonly HeaderRow[] {
  return headers.filter(({ name, value }) => name.trim() !== '' || value !== '')
}

/**
 * Returns when the retries would start if every attempt failed immediately, in ms after the first attempt. Leaves out the
 * random variation of 10%.
 */
export function retryTimes(draft: RequestDraft): number[] {
  const backoff = backoffs.find((one): one is Backoff => one === draft.backoff)
  const maxRetries = Math.min(Number(draft.maxRetries), retryLimit)
  const policy = {
    maxRetries,
    baseDelayMs: Number(draft.baseDelaySeconds) * 1000,
    maxDelayMs: Number(draft.maxDelaySeconds) * 1000,
  }
  if (!backoff || !Number.isInteger(maxRetries) || !(policy.baseDelayMs > 0) || !(policy.maxDelayMs > 0)) return []
  let at = 0
  return Array.from({ length: maxRetries }, (_, index) => {
    at += retryDelayMs({ ...policy, backoff }, index + 1, () => 0.5)
    return at
  })
}

/** Returns the fields of a body that differ from the stored ones. */
export function changesOf<Body extends object>(body: Body, stored: object): Partial<Body> {
  const before = new Map(Object.entries(stored))
  const changed = Object.entries(body).filter(([name, value]) => !isSame(value, before.get(name)))
  return Object.fromEntries(changed) as Partial<Body> // a subset of its entries
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(comparable(a)) === JSON.stringify(comparable(b))
}

// Whitespace between tokens does not change a payload.
function comparable(value: unknown): unknown {
  return value instanceof PayloadText ? { payload: indentJson(value.text) ?? value.text } : (value ?? null)
}
