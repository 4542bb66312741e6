import { inspectJson } from '@belfry/domain/json-text'
import { checkJson } from './json-text.ts'

// The limits of a body in the API, which contains the payload.
const payloadLimits = { maxDepth: 31, maxKeys: 10_000 }
const maxPayloadBytes = 256 * 1024

// A Blob would ask another process of the browser, which takes longer.
export const byteLength = (text: string): number => new TextEncoder().encode(text).length

let last: { text: string; problem: string | null } | undefined

/** Returns what the API would reject about a payload. Each change of any field checks the same payload again. */
export function checkPayload(text: string): string | null {
  if (last?.text !== text) last = { text, problem: findProblem(text) }
  return last.problem
}

function findProblem(text: string): string | null {
  const problem = checkJson(text)
  if (problem) return problem
  if (byteLength(text) > maxPayloadBytes) return 'The payload is larger than 256 KiB.'
  const inspected = inspectJson(text, payloadLimits)
  return inspected.ok ? null : inspected.reason
}
