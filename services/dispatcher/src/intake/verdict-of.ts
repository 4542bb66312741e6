import type { Verdict } from './host-health.ts'

// No valid answer in time. The other failures are our own, or the address is one that nobody calls.
const failing = new Set(['timeout', 'connection_refused', 'connection_reset', 'dns', 'tls', 'invalid_response'])

/** What of an attempt's outcome matters here. */
type Sent = { kind: 'response'; status: number } | { kind: 'failure'; code: string } | { kind: 'unsent' }

/**
 * What the outcome of an attempt says about the host: it fails when it gives no valid answer in time, an error of its own
 * (5xx), or asks for fewer calls (429). Any other answer is that of a host that does well, whatever it thinks of the call.
 */
export function verdictOf(outcome: Sent): Verdict {
  if (outcome.kind === 'unsent') return null
  if (outcome.kind === 'response') return outcome.status >= 500 || outcome.status === 429 ? 'failing' : 'well'
  return failing.has(outcome.code) ? 'failing' : null
}
