import type { Claim, RecordedAttempt } from '@belfry/db'
import { nextAttempt, toId } from '@belfry/domain'
import { failpoint } from '@belfry/runtime'
import type { AttemptIds, AttemptRequest } from './build-request.ts'
import type { Context } from './context.ts'
import type { UnsentOutcome } from './egress/outcome.ts'
import { toFinishedAttempt } from './finished-attempt.ts'
import { prepareRequest } from './prepare-request.ts'
import { putBack } from './put-back.ts'
import { recordOutcome } from './record-outcome.ts'
import { type AttemptOutcome, internalError } from './secrets/attempt-outcome.ts'
import { redactFault, redactOutcome } from './secrets/redact-outcome.ts'
import { endTrace, traceAttempt } from './trace-attempt.ts'

/** A task that this process has claimed. */
export type Claimed = Extract<Claim, { kind: 'claimed' }>

/** How far an attempt has come. */
type Progress = { sentAt: number | null; outcome: AttemptOutcome | null }

/** What an attempt came to: what decides about its task, and what is stored, in which no secret can be seen. */
type Ended = { outcome: AttemptOutcome; shown: AttemptOutcome; headers: Record<string, string>; sentAt: number }

/**
 * Makes one attempt, from the claim on: builds the request, sends it, decides what becomes of the task, records that and
 * arranges what follows. A fault of ours ends the attempt like any failure: nothing else would while this process lives.
 * @param onOutcome - Called with the outcome of the call as soon as there is one, unless the call could not even begin.
 */
export async function dispatch(
  ctx: Context,
  claimed: Claimed,
  onOutcome: (outcome: AttemptOutcome) => void,
): Promise<void> {
  const progress: Progress = { sentAt: null, outcome: null }
  try {
    await attempt(ctx, claimed, progress, onOutcome)
  } catch (error) {
    const { task, run } = idsOf(claimed)
    ctx.log.error({ err: error, task, run }, 'attempt.fault')
    const outcome = progress.outcome ? withoutContent(progress.outcome) : internalError(progress.sentAt !== null)
    const sentAt = progress.sentAt ?? performance.now()
    await end(ctx, claimed, { outcome, shown: outcome, headers: {}, sentAt }, claimed.task.traceparent)
  }
}

async function attempt(
  ctx: Context,
  claimed: Claimed,
  progress: Progress,
  onOutcome: (outcome: AttemptOutcome) => void,
): Promise<void> {
  if (__FAILPOINTS__) await failpoint('dispatcher.claimed')
  const { task } = claimed
  const span = ctx.tracing && traceAttempt(ctx.tracing, task)
  const traceparent = span ? span.traceparent : task.traceparent
  const request = await prepareRequest(ctx, task, idsOf(claimed), traceparent)
  const sentAt = performance.now()
  if (!('kind' in request.outgoing)) progress.sentAt = sentAt
  const sending = send(ctx, request)
  if (__FAILPOINTS__) await failpoint('dispatcher.request_sent')
  const outcome = await sending
  if (span) endTrace(span, outcome)
  if (outcome.kind === 'unsent') {
    progress.sentAt = null
    await putBack(ctx, task, outcome)
    return
  }
  progress.outcome = outcome
  onOutcome(outcome)
  if (__FAILPOINTS__) await failpoint('dispatcher.answered')
  const shown = request.redactor ? redactOutcome(outcome, request.redactor) : outcome
  await end(ctx, claimed, { outcome, shown, headers: request.shownHeaders, sentAt }, traceparent)
}

function send(ctx: Context, { outgoing, redactor }: AttemptRequest): Promise<AttemptOutcome | UnsentOutcome> {
  if ('kind' in outgoing) return Promise.resolve(outgoing)
  const sending = ctx.sender.send(outgoing)
  if (redactor === null) return sending
  return sending.catch(error => Promise.reject(redactFault(error, redactor)))
}

async function end(
  ctx: Context,
  claimed: Claimed,
  { outcome, shown, headers, sentAt }: Ended,
  traceparent: string | null,
): Promise<void> {
  const { task, receivedAt } = claimed
  const ids = idsOf(claimed)
  const startedAt = new Date(task.claimedAt.getTime() + Math.floor(sentAt - receivedAt))
  const durationMs = Math.round(performance.now() - sentAt)
  const next = nextAttempt({
    policy: task,
    attempt: task.attempt - task.lost,
    outcome: outcome.kind === 'response' ? outcome : { kind: 'failure', code: outcome.code },
    now: new Date(startedAt.getTime() + durationMs),
    random: Math.random,
  })
  const finished = toFinishedAttempt(task, headers, shown, next, startedAt, durationMs)
  const recorded = await recordOutcome(ctx, finished)
  ctx.metrics.attemptEnded(finished, recorded !== null)
  const trace = traceparent?.slice(3, 35)
  logAttempt(ctx, ids, outcome, { durationMs, state: recorded ? next.state : 'superseded', trace })
  if (__FAILPOINTS__) await failpoint('dispatcher.recorded')
  if (recorded && next.state !== 'success') await follow(ctx, ids, finished, recorded)
}

function idsOf({ task }: Claimed): AttemptIds {
  return {
    task: toId('task', task.taskId),
    run: toId('run', task.runId),
    workspace: toId('ws', task.workspaceId),
    attempt: task.attempt,
  }
}

// What cannot be shown safely, or not at all.
function withoutContent(outcome: AttemptOutcome): AttemptOutcome {
  if (outcome.kind === 'failure') return outcome
  return { ...outcome, headers: {}, body: Buffer.alloc(0), bodyTruncated: true }
}

async function follow(
  ctx: Context,
  ids: AttemptIds,
  attempt: ReturnType<typeof toFinishedAttempt>,
  recorded: RecordedAttempt,
): Promise<void> {
  if (recorded.dueAt) {
    if (__FAILPOINTS__) await failpoint('dispatcher.retry_recorded')
    const due = { id: ids.task, dueAt: recorded.dueAt.getTime(), workspace: ids.workspace }
    await ctx.enqueue([due], recorded.now.getTime())
  } else if (attempt.state === 'dead') {
    const error = attempt.errorMessage ?? 'The target did not answer with a 2xx status.'
    const letter = { task: ids.task, workspace: ids.workspace, attempts: ids.attempt, error }
    await ctx.deadLetters
      ?.add(letter)
      .catch(error => ctx.log.warn({ err: error, task: ids.task }, 'dead_letter.not_shown'))
  }
}

function logAttempt(
  ctx: Context,
  { task, run, workspace, attempt }: AttemptIds,
  answer: AttemptOutcome,
  { durationMs, state, trace }: { durationMs: number; state: string; trace: string | undefined },
): void {
  const outcome = answer.kind === 'response' ? answer.status : answer.code
  ctx.log.info({ task, run, workspace, attempt, outcome, durationMs, state, trace }, 'attempt.finished')
}
