import type { Claim } from '@belfry/db/tasks/claim-tasks'
import { toId } from '@belfry/domain/id'
import { type EndedAttempt, nextAttempt } from '@belfry/domain/next-attempt'
import { nextMessageAttempt } from '@belfry/domain/qstash/next-message-attempt'
import type { QstashFields } from '@belfry/domain/qstash/qstash-fields'
import { lateMs } from '@belfry/domain/wait-reason'
import { failpoint } from '@belfry/runtime'
import type { AttemptRequest } from '../connections/apply-connection.ts'
import type { UnsentOutcome } from '../egress/outcome.ts'
import { wasBlocked } from '../scheduling/blocks.ts'
import { type AttemptOutcome, internalError } from '../secrets/attempt-outcome.ts'
import { redactFault, redactOutcome, withoutContent } from '../secrets/redact-outcome.ts'
import { advanceQueue } from '../statements/advance-queues.ts'
import type { AttemptContext } from './attempt-context.ts'
import type { AttemptIds } from './build-request.ts'
import { toFinishedAttempt } from './finished-attempt.ts'
import { followUp, undoUnsentAttempt } from './follow-up.ts'
import { prepareRequest } from './prepare-request.ts'
import { recordOutcome } from './record-outcome.ts'
import { endTrace, traceAttempt } from './trace-attempt.ts'
import { type Wait, waitedFor } from './waited-for.ts'

/** A task that this process has claimed. */
export type Claimed = Extract<Claim, { kind: 'claimed' }>

/** How far an attempt has come. */
type Progress = { sentAt: number | null; outcome: AttemptOutcome | null }

/** The end of an attempt: the outcome, which decides about the task, and the stored content, without secrets. */
type Ended = {
  outcome: AttemptOutcome
  shown: AttemptOutcome
  headers: Record<string, string>
  sentAt: number
  wait: Wait | null
}

/**
 * Makes the attempt of a claimed task: builds the request, sends it, decides the next state of the task, records that, and
 * does what follows. A fault of the dispatcher ends the attempt like any failure, because nothing else would while this
 * process lives.
 * @param onOutcome - Called with the outcome of the call as soon as there is one, unless the call could not start.
 * @param wait - What the intake knows about its wait. Default: nothing.
 */
export async function dispatch(
  ctx: AttemptContext,
  claimed: Claimed,
  onOutcome: (outcome: AttemptOutcome) => void,
  wait: Wait | null = null,
): Promise<void> {
  const progress: Progress = { sentAt: null, outcome: null }
  try {
    await attempt(ctx, claimed, progress, onOutcome, wait)
  } catch (error) {
    const { task, run } = idsOf(claimed)
    ctx.log.error({ err: error, task, run }, 'attempt.fault')
    // After a fault the content may not be safe to store.
    const outcome = progress.outcome ? withoutContent(progress.outcome) : internalError(progress.sentAt !== null)
    const sentAt = progress.sentAt ?? performance.now()
    await end(ctx, claimed, { outcome, shown: outcome, headers: {}, sentAt, wait }, claimed.task.traceparent)
  }
}

async function attempt(
  ctx: AttemptContext,
  claimed: Claimed,
  progress: Progress,
  onOutcome: (outcome: AttemptOutcome) => void,
  wait: Wait | null,
): Promise<void> {
  if (__FAILPOINTS__) await failpoint('dispatcher.claimed')
  const { task } = claimed
  const span = ctx.tracing && traceAttempt(ctx.tracing, task)
  const traceparent = span ? span.traceparent : task.traceparent
  const prepared = await prepareRequest(ctx, task, idsOf(claimed), traceparent)
  const sentAt = performance.now()
  if (!('kind' in prepared.outgoing)) progress.sentAt = sentAt
  const sending = send(ctx, prepared)
  if (__FAILPOINTS__) await failpoint('dispatcher.request_sent')
  const { request, outcome } = await renewRefused(ctx, prepared, await sending, sentAt)
  if (span) endTrace(span, outcome)
  if (outcome.kind === 'unsent') {
    progress.sentAt = null
    await undoUnsentAttempt(ctx, task, outcome)
    return
  }
  progress.outcome = outcome
  onOutcome(outcome)
  if (__FAILPOINTS__) await failpoint('dispatcher.answered')
  await end(
    ctx,
    claimed,
    { outcome, shown: shownOutcome(outcome, request), headers: request.shownHeaders, sentAt, wait },
    traceparent,
  )
}

const minRepeatMs = 500

/**
 * Repeats a call once to which the target answered 401, with a new access token. Both calls are one attempt: they share its
 * timeout, and the run shows the second one, without its timings: they do not add up to the duration of both.
 */
async function renewRefused(
  ctx: AttemptContext,
  request: AttemptRequest,
  outcome: AttemptOutcome | UnsentOutcome,
  sentAt: number,
): Promise<{ request: AttemptRequest; outcome: AttemptOutcome | UnsentOutcome }> {
  if (request.renew === null || outcome.kind !== 'response' || outcome.status !== 401) return { request, outcome }
  const again = await request.renew()
  if (again === null || 'kind' in again.outgoing) return { request, outcome }
  const timeoutMs = Math.floor(again.outgoing.timeoutMs - (performance.now() - sentAt))
  if (timeoutMs < minRepeatMs) return { request, outcome }
  const repeated = await send(ctx, { ...again, outgoing: { ...again.outgoing, timeoutMs } })
  return repeated.kind === 'unsent' ? { request, outcome } : { request: again, outcome: { ...repeated, timings: null } }
}

function shownOutcome(outcome: AttemptOutcome, { redactor, keepsResponse }: AttemptRequest): AttemptOutcome {
  if (redactor === null) return outcome
  return keepsResponse ? redactOutcome(outcome, redactor) : withoutContent(outcome)
}

function send(
  ctx: AttemptContext,
  { outgoing, redactor, sender }: AttemptRequest,
): Promise<AttemptOutcome | UnsentOutcome> {
  if ('kind' in outgoing) return Promise.resolve(outgoing)
  const sending = (sender ?? ctx.sender).send(outgoing)
  if (redactor === null) return sending
  return sending.catch(error => Promise.reject(redactFault(error, redactor)))
}

async function end(
  ctx: AttemptContext,
  claimed: Claimed,
  { outcome, shown, headers, sentAt, wait }: Ended,
  traceparent: string | null,
): Promise<void> {
  const { task, receivedAt } = claimed
  const ids = idsOf(claimed)
  const startedAt = new Date(task.claimedAt.getTime() + Math.floor(sentAt - receivedAt))
  const durationMs = Math.round(performance.now() - sentAt)
  const ended: EndedAttempt = {
    policy: task,
    attempt: task.attempt - task.lost,
    outcome: outcome.kind === 'response' ? outcome : { kind: 'failure', code: outcome.code },
    now: new Date(startedAt.getTime() + durationMs),
    random: Math.random,
  }
  const next =
    task.qstash == null
      ? nextAttempt(ended)
      : nextMessageAttempt((JSON.parse(task.qstash) as QstashFields).delaysMs, ended)
  const dueAt = sentAt - (startedAt.getTime() - task.scheduledAt.getTime())
  const wasServed = sentAt - dueAt < lateMs || ctx.wasServedAt(task.scheduledAt)
  const reason = wait && waitedFor(task, { ...wait, dueAt, claimedAt: receivedAt, sentAt, wasServed })
  const finished = toFinishedAttempt(task, headers, shown, next, startedAt, durationMs, reason)
  const recorded = await recordOutcome(ctx, finished)
  if (__FAILPOINTS__) await failpoint('dispatcher.before_advance')
  advanceQueue(ctx, task.queueId)
  const isBlocked = wait !== null && wasBlocked(wait.blocks, dueAt)
  ctx.metrics.attemptEnded(finished, recorded !== null, isBlocked, traceparent)
  const state = recorded ? next.state : 'superseded'
  const shownOutcome = outcome.kind === 'response' ? outcome.status : outcome.code
  const trace = traceparent?.slice(3, 35)
  if (state !== 'success' || Math.random() * 100 < ctx.attemptLogPercent)
    ctx.logAttempt({ ...ids, outcome: shownOutcome, durationMs, state, trace })
  if (__FAILPOINTS__) await failpoint('dispatcher.recorded')
  if (recorded && next.state !== 'success') await followUp(ctx, ids, finished, recorded)
}

function idsOf({ task }: Claimed): AttemptIds {
  return {
    task: toId('task', task.taskId),
    run: toId('run', task.runId),
    workspace: toId('ws', task.workspaceId),
    attempt: task.attempt,
  }
}
