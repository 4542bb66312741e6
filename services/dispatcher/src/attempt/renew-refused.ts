import type { AttemptRequest } from '../connections/apply-connection.ts'
import type { Context } from '../context.ts'
import type { UnsentOutcome } from '../egress/outcome.ts'
import type { OutgoingRequest, WriteGate } from '../egress/send.ts'
import type { AttemptOutcome } from '../secrets/attempt-outcome.ts'
import { redactFault } from '../secrets/redact-outcome.ts'

const minRepeatMs = 500

/**
 * Repeats a call once, with a new access token. Both calls are one attempt: they share its timeout, and the run shows the
 * second one, without its timings: they do not add up to the duration of both.
 */
export async function renewRefused(
  ctx: Context,
  request: AttemptRequest,
  outcome: AttemptOutcome | UnsentOutcome,
  sentAt: number,
  gate: WriteGate,
): Promise<{ request: AttemptRequest; outcome: AttemptOutcome | UnsentOutcome }> {
  const again = await request.renew?.()
  if (!again || 'kind' in again.outgoing) return { request, outcome }
  const { url, method, headers, body } = again.outgoing
  const timeoutMs = Math.floor(again.outgoing.timeoutMs - (performance.now() - sentAt))
  if (timeoutMs < minRepeatMs) return { request, outcome }
  const repeated = await send(ctx, again, { url, method, headers, body, timeoutMs }, gate)
  if (repeated.kind === 'unsent') return { request, outcome }
  return { request: again, outcome: Object.assign(repeated, { timings: null }) }
}

function send(ctx: Context, { redactor, sender }: AttemptRequest, outgoing: OutgoingRequest, gate: WriteGate) {
  const sending = (sender ?? ctx.sender).send(outgoing, gate)
  return redactor === null ? sending : sending.catch(async error => Promise.reject(await redactFault(error, redactor)))
}
