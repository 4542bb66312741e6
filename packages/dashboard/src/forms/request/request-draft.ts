import type { CallbackEvent } from '@belfry/contract/callback'
import type { Task } from '@belfry/contract/task'
import { queueNameForm } from '@belfry/domain/queue-name'
import { findHeaderProblems } from '@belfry/domain/request-headers'
import { checkTargetUrl } from '@belfry/domain/target-url'
import type { Body } from '../../api/call.ts'
import { PayloadText } from '../../api/payload-text.ts'
import {
  bodyFrom,
  choice,
  type Draft,
  draftFor,
  optionalSeconds,
  optionalText,
  problemsOf,
  requiredText,
  type Stored,
} from '../body-model.ts'
import type { FieldErrors } from '../use-form.ts'
import { checkPayload } from './check-payload.ts'
import { indentJson } from './json-text.ts'
import { checkLabels, labelsText, parseLabels } from './labels.ts'
import { checkRetry, type RetryDraft, retryBodyOf, retryDraftOf } from './retry-draft.ts'

export type HeaderRow = { id: number; name: string; value: string }

export type RawBody = { payload_base64: string; content_type: string }

/** What the tasks of an event, a subscription or a cron job have in common with each other. */
export const flowModel = {
  queue: optionalText(text => (queueNameForm.test(text) ? null : queueNameMessage)),
  connection: optionalText(),
  max_age_ms: optionalSeconds(14 * 86_400),
  labels: {
    show: (stored: readonly string[] = []) => labelsText(stored),
    read: parseLabels,
    check: checkLabels,
  },
  ...callbacks(),
}

export const queueNameMessage = 'Use letters, digits and . _ : / -, starting with a letter, a digit, _ or -.'

export const callbackEvents = ['on_success', 'on_failure', 'on_attempt'] as const satisfies readonly CallbackEvent[]

type CallbackBody = NonNullable<Body<'createTask'>['on_success']>

/** The URL of a callback, and its other fields as they are stored. */
type CallbackDraft = { url: string; stored: CallbackBody | null }

export type CallbackDrafts = Record<CallbackEvent, CallbackDraft>

function callbacks() {
  const callback = {
    show: (stored: CallbackBody | null = null): CallbackDraft => ({ url: stored?.url ?? '', stored }),
    // A new URL keeps the other fields.
    read: ({ url, stored }: CallbackDraft) => (url.trim() === '' ? null : { ...stored, url: url.trim() }),
    check: ({ url }: CallbackDraft) => (url.trim() === '' ? null : checkTargetUrl(url.trim())),
    input: 'url',
  }
  return { on_success: callback, on_failure: callback, on_attempt: callback }
}

const { queue, connection } = flowModel

const requestModel = {
  url: requiredText('Enter the target URL.', checkTargetUrl),
  method: choice<Body<'createTask'>['method']>('POST'),
  headers: {
    show: (stored: Readonly<Record<string, string>> = {}): readonly HeaderRow[] =>
      Object.entries(stored).map(([name, value], id) => ({ id, name, value })),
    read: headersIn,
    check: checkHeaders,
  },
  ...{ queue, connection, ...callbacks() },
}

/** The fields of a request, as the user types them. */
export type RequestDraft = Draft<typeof requestModel> &
  RetryDraft & {
    /** JSON text; empty for none. */
    payload: string
    /** The body of the stored request, if it is a raw one. It is sent while the payload is empty. */
    rawBody: RawBody | null
  }

type StoredRequest = Stored<typeof requestModel> &
  Partial<Pick<Task, 'retry' | 'timeout_ms'>> & {
    readonly [Name in 'payload' | 'payload_base64' | 'content_type']?: Task[Name] | undefined
  }

/** Returns the fields of the form for a stored request, or for a new one. */
export function draftOf(request: StoredRequest = {}): RequestDraft {
  const { payload, payload_base64: bytes, content_type: type } = request
  return {
    ...draftFor(requestModel, request),
    ...retryDraftOf(request.retry, request.timeout_ms),
    payload: payload instanceof PayloadText ? (indentJson(payload.text) ?? payload.text) : '',
    rawBody: bytes === null || bytes === undefined || !type ? null : { payload_base64: bytes, content_type: type },
  }
}

export const emptyRequest: RequestDraft = draftOf()

/** Converts a draft to a body. Only for a draft in which `checkRequest` finds no error. */
export function bodyOf(draft: RequestDraft) {
  return { ...bodyFrom(requestModel, draft), ...contentOf(draft), ...retryBodyOf(draft) }
}

/** Returns what the API would reject, by field. */
export function checkRequest(draft: RequestDraft): FieldErrors {
  const payload = draft.payload.trim() === '' ? null : checkPayload(draft.payload)
  return { ...problemsOf(requestModel, draft), ...(payload === null ? {} : { payload }), ...checkRetry(draft) }
}

function checkHeaders(rows: readonly HeaderRow[]): string | null {
  const names = filledRows(rows).map(({ name }) => name.trim())
  if (names.includes('')) return 'Every header needs a name.'
  const twice = names.find((name, index) => names.findIndex(one => one.toLowerCase() === name.toLowerCase()) < index)
  if (twice) return `${twice}: this header appears twice. Header names are case-insensitive.`
  const [problem] = findHeaderProblems(headersIn(rows))
  return problem ? [problem.name, problem.message].filter(Boolean).join(': ') : null
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
export function headersIn(rows: readonly HeaderRow[]): Record<string, string> {
  return Object.fromEntries(filledRows(rows).map(({ name, value }) => [name.trim(), value]))
}

// Drops rows with neither a name nor a value.
function filledRows(headers: readonly HeaderRow[]): readonly HeaderRow[] {
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
