import type { Claim, RecordedAttempt } from '@belfry/db'
import { nextAttempt, toId } from '@belfry/domain'
import { failpoint } from '@belfry/runtime'
import { type AttemptIds, type AttemptRequest, buildRequest, requestPartsOf } from './build-request.ts'
import type { Context } from './context.ts'
import type { UnsentOutcome } from './egress/outcome.ts'
import { toFinishedAttempt } from './finished-attempt.ts'
import { putBack } from './put-back.ts'
import type { AttemptOutcome } from './secrets/attempt-outcome.ts'
import { attemptSecrets } from './secrets/attempt-secrets.ts'
import { secretNamesOf } from './secrets/fill-request.ts'
import { redactFault, redactOutcome } from './secrets/redact-outcome.ts'
import { endTrace, traceAttempt } from './trace-attempt.ts'

/** A task that this process has claimed. */
export type Claimed = Extract<Claim, { kind: 'claimed' }>

/**
 * One attempt from the claim on: build, send, decide what becomes of the task, record, arrange what follows.
 * @param onOutcome - Told what came of the call as soon as that is over, unless it could not even begin.
 */
export async function dispatch(
  ctx: Context,
  { task, heardAt }: Claimed,
  onOutcome: (outcome: AttemptOutcome) => void,
): Promise<void> {
  await failpoint('dispatcher.claimed')
  const parts = requestPartsOf(task)
  const reading = attemptSecrets(ctx, task.workspaceId, secretNamesOf(parts))
  const secrets = reading instanceof Promise ? await reading : reading
  const span = ctx.tracing && traceAttempt(ctx.tracing, task)
  const traceparent = span ? span.traceparent : task.traceparent
  const ids = {
    task: toId('task', task.taskId),
    run: toId('run', task.runId),
    workspace: toId('ws', task.workspaceId),
    attempt: task.attempt,
  }
  const request = buildRequest(task, ids, parts, secrets, traceparent)
  const sentAt = performance.now()
  const startedAt = new Date(task.claimedAt.getTime() + Math.floor(sentAt - heardAt))
  const sending = send(ctx, request)
  await failpoint('dispatcher.request_sent')
  const outcome = await sending
  if (span) endTrace(span, outcome)
  if (outcome.kind === 'unsent') {
    await putBack(ctx, task, outcome)
    return
  }
  onOutcome(outcome)
  await failpoint('dispatcher.answered')
  const durationMs = Math.round(performance.now() - sentAt)
  const next = nextAttempt({
    policy: task,
    attempt: task.attempt,
    outcome: outcome.kind === 'response' ? outcome : { kind: 'failure', code: outcome.code },
    now: new Date(startedAt.getTime() + durationMs),
    random: Math.random,
  })
  const shown = request.redactor ? redactOutcome(outcome, request.redactor) : outcome
  const attempt = toFinishedAttempt(task, request.shownHeaders, shown, next, startedAt, durationMs)
  const recorded = await ctx.record(attempt)
  ctx.metrics.attemptEnded(attempt, recorded !== null)
  const trace = traceparent?.slice(3, 35)
  logAttempt(ctx, ids, outcome, { durationMs, state: recorded ? next.state : 'superseded', trace })
  await failpoint('dispatcher.recorded')
  if (recorded && next.state !== 'success') await follow(ctx, ids, attempt, recorded)
}

function send(ctx: Context, { outgoing, redactor }: AttemptRequest): Promise<AttemptOutcome | UnsentOutcome> {
  if ('kind' in outgoing) return Promise.resolve(outgoing)
  const sending = ctx.sender.send(outgoing)
  if (redactor === null) return sending
  return sending.catch(error => Promise.reject(redactFault(error, redactor)))
}

async function follow(
  ctx: Context,
  ids: AttemptIds,
  attempt: ReturnType<typeof toFinishedAttempt>,
  recorded: RecordedAttempt,
): Promise<void> {
  if (recorded.dueAt) {
    await failpoint('dispatcher.retry_recorded')
    const due = { id: ids.task, dueAt: recorded.dueAt.getTime(), workspace: ids.workspace }
    await ctx.enqueue([due], recorded.now.getTime())
  } else if (attempt.state === 'dead') {
    const error = attempt.errorMessage ?? 'The target did not answer with a 2xx status.'
    const letter = { task: ids.task, workspace: ids.workspace, attempts: ids.attempt, error }
    await ctx.deadLetters
      .add(letter)
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
  ctx.logAttempt({ task, run, workspace, attempt, outcome, durationMs, state, trace })
}
