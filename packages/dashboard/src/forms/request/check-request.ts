import { inspectJson } from '@belfry/domain/json-text'
import { findHeaderProblems } from '@belfry/domain/request-headers'
import { checkTargetUrl } from '@belfry/domain/target-url'
import { type FieldErrors, messagesIn } from '../form.tsx'
import { checkFlow } from './flow-draft.ts'
import { checkJson } from './json-text.ts'
import { filledRows, headersOf, type RequestDraft } from './request-draft.ts'
import { checkRetry } from './retry-draft.ts'

// The payload is inside the body, so its depth limit is one less than the API's limit for a body (32).
const payloadLimits = { maxDepth: 31, maxKeys: 10_000 }
const maxPayloadBytes = 256 * 1024

/** Returns what the API would reject, by field. */
export function checkRequest(draft: RequestDraft): FieldErrors {
  return messagesIn({
    url: draft.url.trim() === '' ? 'Enter the target URL.' : checkTargetUrl(draft.url.trim()),
    headers: checkHeaders(draft),
    payload: draft.payload.trim() === '' ? null : checkPayload(draft.payload),
    ...checkFlow(draft),
    ...checkRetry(draft),
  })
}

// A Blob would be slower, because it asks another process of the browser.
export const byteLength = (text: string): number => new TextEncoder().encode(text).length

/** Returns what the API would reject about a payload. */
export function checkPayload(text: string): string | null {
  const problem = checkJson(text)
  if (problem) return problem
  if (byteLength(text) > maxPayloadBytes) return 'The payload is larger than 256 KiB.'
  const inspected = inspectJson(text, payloadLimits)
  return inspected.ok ? null : inspected.reason
}

function checkHeaders(draft: RequestDraft): string | null {
  const names = filledRows(draft.headers).map(({ name }) => name.trim())
  if (names.includes('')) return 'Every header needs a name.'
  const twice = names.find((name, index) => names.findIndex(one => one.toLowerCase() === name.toLowerCase()) < index)
  if (twice) return `${twice}: this header appears twice. Header names are case-insensitive.`
  const [problem] = findHeaderProblems(headersOf(draft))
  return problem ? [problem.name, problem.message].filter(Boolean).join(': ') : null
}
