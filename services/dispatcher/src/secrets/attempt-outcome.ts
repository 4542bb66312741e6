import type { Outcome } from '../egress/outcome.ts'

/** What came of an attempt: what the target did, or why nothing could be sent to it. */
export type AttemptOutcome = Outcome | SecretMissing

/** Nothing was sent, because a secret is missing or cannot be used where it should go. */
export type SecretMissing = { kind: 'failure'; code: 'secret_missing'; message: string }

export function secretMissing(message: string): SecretMissing {
  return { kind: 'failure', code: 'secret_missing', message }
}
