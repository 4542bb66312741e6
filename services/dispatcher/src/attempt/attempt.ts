import type { Claim, ClaimedTask } from '@belfry/db/tasks/claimed-row'
import type { FinishedAttempt, RecordedAttempt } from '@belfry/db/tasks/record-attempts'
import { toId } from '@belfry/domain/id'
import { type NextAttempt, nextAttempt } from '@belfry/domain/next-attempt'
import { lateMs, type WaitReason } from '@belfry/domain/wait-reason'
import { failpoint, type Span } from '@belfry/runtime'
import type { AttemptRequest } from '../connections/apply-connection.ts'
import type { Context } from '../context.ts'
import type { ResponseOutcome, UnsentOutcome } from '../egress/outcome.ts'
import type { CallEnds, WriteGate } from '../egress/send.ts'
import { noBlocks, wasBlocked } from '../scheduling/host.ts'
import { type AttemptOutcome, internalError } from '../secrets/attempt-outcome.ts'
import { redactFault, redactOutcome, withoutContent } from '../secrets/redact-outcome.ts'
import type { Recording } from '../statements/batched-statements.ts'
import { type AttemptIds, prepareRequest } from './build-request.ts'
import { followUp, undoUnsentAttempt } from './follow-up.ts'
import { recordRefused } from './record-refused.ts'
import { renewRefused } from './renew-refused.ts'
import { endTrace, traceAttempt } from './trace-attempt.ts'
import { type Wait, waitedFor } from './waited-for.ts'

export type Claimed = Extract<Claim, { kind: 'claimed' }>

/**
 * The attempt of a claimed task: builds the request, sends it, decides the next state of the task, records that, and
 * does what follows. A bug of the dispatcher also ends the attempt; otherwise the claim would stay until the process
 * dies.
 *
 * This is the hot path. An attempt is one object from its slot to its record. Each step is a method that the step before it
 * or a batch calls, and only rare ways use promises.
 */
export abstract class Attempt implements CallEnds, WriteGate, Recording {
  finished!: FinishedAttempt
  readonly #ctx: Context
  #claimed!: Claimed
  #session!: string
  #ids!: AttemptIds
  #span: Span | null = null
  #traceparent: string | null = null
  #request: AttemptRequest | null = null
  #isSent = false
  #sentAt = 0
  #dueAt = 0
  #outcome: AttemptOutcome | null = null
  #next!: NextAttempt
  #hasFault = false
  #isOver = false
  #passing: Promise<void> | null = null

  constructor(ctx: Context) {
    this.#ctx = ctx
  }

  /** What the intake knows about the wait of the task; null for nothing. */
  protected abstract get wait(): Wait | null

  /**
   * Called while the claim is being undone, and before a notification can say that the task waits again: its next attempt may
   * start when a promise settles.
   */
  protected abstract onDeferred(until: Promise<unknown>): void

  /** Called when the call starts, with the length of its body. */
  protected abstract onCalling(bytes: number): void

  /** Called with the outcome of the call as soon as there is one, unless the call could not start. */
  protected abstract onCalled(outcome: AttemptOutcome): void

  /**
   * Called once, when the attempt is over.
   * @param fault - Why it could not be recorded.
   */
  protected abstract onOver(fault?: unknown): void

  /**
   * Makes the attempt.
   * @param session - The session of the dispatcher that made the claim.
   * @param waited - The credentials for which the task has waited before its claim, or null.
   */
  protected begin(claimed: Claimed, session: string, waited: Promise<unknown> | null): void {
    this.#claimed = claimed
    this.#session = session
    const { task } = claimed
    this.#ids = {
      task: toId('task', task.taskId),
      run: toId('run', task.runId),
      workspace: toId('ws', task.workspaceId),
      attempt: task.attempt,
    }
    if (__FAILPOINTS__) this.#pass('dispatcher.claimed', () => this.#prepare(waited))
    else this.#prepare(waited)
  }

  #prepare(waited: Promise<unknown> | null): void {
    const { task } = this.#claimed
    try {
      if (this.#ctx.tracing) this.#span = traceAttempt(this.#ctx.tracing, task)
      this.#traceparent = this.#span ? this.#span.traceparent : task.traceparent
      const request = prepareRequest(this.#ctx, task, this.#ids, this.#traceparent, waited)
      if (request instanceof Promise) request.then(ready => this.#send(ready)).catch(error => this.#fault(error))
      else this.#send(request)
    } catch (error) {
      this.#fault(error)
    }
  }

  #send(request: AttemptRequest): void {
    const { outgoing, sender } = request
    this.#request = request
    this.#sentAt = performance.now()
    if ('kind' in outgoing) {
      this.#settle(outgoing)
      return
    }
    this.#isSent = true
    this.onCalling(outgoing.body === null ? 0 : outgoing.body.length)
    const { start } = sender ?? this.#ctx.sender
    start(outgoing, this, this)
    if (__FAILPOINTS__) {
      this.#passing = failpoint('dispatcher.request_sent')
      this.#passing.catch(error => this.#fault(error))
    }
  }

  /** The last decision. Since the claim the process may have been frozen, and names, proxies and connections take time. */
  refusal(): string | null {
    const { expiresAt } = this.#claimed.task
    if (!this.#ctx.fence.holds(this.#session))
      return 'This dispatcher had no heartbeat for a while, so the claim may have ended.'
    if (expiresAt !== null && expiresAt <= this.#ctx.clock.now())
      return 'The deadline of the task passed before the call.'
    return null
  }

  onOutcome(outcome: AttemptOutcome | UnsentOutcome): void {
    if (__FAILPOINTS__ && this.#passing) this.#passing.then(() => this.#answer(outcome)).catch(() => {})
    else this.#answer(outcome)
  }

  onFault(error: unknown): void {
    const redactor = this.#request?.redactor
    if (redactor)
      redactFault(error, redactor)
        .then(redacted => this.#fault(redacted))
        .catch(fault => this.#fault(fault))
    else this.#fault(error)
  }

  #answer(outcome: AttemptOutcome | UnsentOutcome): void {
    const request = this.#request
    const isRefused = outcome.kind === 'response' && outcome.status === 401
    if (!isRefused || !request?.renew) this.#settle(outcome)
    else
      renewRefused(this.#ctx, request, outcome, this.#sentAt, this)
        .then(renewed => {
          this.#request = renewed.request
          this.#settle(renewed.outcome)
        })
        .catch(error => this.#fault(error))
  }

  #settle(outcome: AttemptOutcome | UnsentOutcome): void {
    try {
      if (this.#span) endTrace(this.#span, outcome)
      if (outcome.kind === 'unsent') {
        this.#isSent = false
        const { until } = outcome
        const undone = undoUnsentAttempt(this.#ctx, this.#claimed.task, outcome)
        if (until !== undefined) {
          const isReady = undone.then(() => until)
          isReady.catch(() => {}) // the next attempt has the same error
          this.onDeferred(isReady)
        }
        undone.then(() => this.#end()).catch(error => this.#fault(error))
        return
      }
      this.#outcome = outcome
      const request = this.#request
      const endedAt = performance.now()
      if (request === null || request.redactor === null) this.#finish(outcome, outcome, endedAt)
      else if (!request.keepsResponse) this.#finish(outcome, withoutContent(outcome), endedAt)
      // The attempt keeps its slot: otherwise targets could answer faster than their responses are redacted.
      else
        redactOutcome(outcome, request.redactor)
          .then(shown => this.#finish(outcome, shown, endedAt))
          .catch(error => this.#fault(error))
    } catch (error) {
      this.#fault(error)
    }
  }

  #finish(outcome: AttemptOutcome, shown: AttemptOutcome, endedAt: number): void {
    this.onCalled(outcome)
    const headers = this.#request?.shownHeaders ?? {}
    if (__FAILPOINTS__) this.#pass('dispatcher.answered', () => this.#record(outcome, shown, headers, endedAt))
    else this.#record(outcome, shown, headers, endedAt)
  }

  // After a fault the content may not be safe to store.
  #fault(error: unknown): void {
    if (this.#hasFault) {
      this.#end(error)
      return
    }
    this.#hasFault = true
    const { task, run } = this.#ids
    this.#ctx.log.error({ err: error, task, run }, 'attempt.fault')
    try {
      const outcome = this.#outcome ? withoutContent(this.#outcome) : internalError(this.#isSent)
      if (this.#outcome === null && !this.#isSent) this.#sentAt = performance.now()
      this.#outcome = outcome
      this.#record(outcome, outcome, {})
    } catch (fault) {
      this.#end(fault)
    }
  }

  // The outcome decides about the task. The stored form is redacted.
  #record(
    outcome: AttemptOutcome,
    shown: AttemptOutcome,
    headers: Record<string, string>,
    endedAt = performance.now(),
  ): void {
    const { task, receivedAt } = this.#claimed
    const sentAt = this.#sentAt
    const startedAt = new Date(task.claimedAt.getTime() + Math.floor(sentAt - receivedAt))
    const finishedAt = new Date(startedAt.getTime() + Math.round(endedAt - sentAt))
    this.#next = nextAttempt({
      policy: task.retryDelays == null ? task : Object.assign({}, task, { delaysMs: JSON.parse(task.retryDelays) }),
      attempt: task.attempt - task.lost,
      outcome: outcome.kind === 'response' ? outcome : { kind: 'failure', code: outcome.code },
      now: finishedAt,
      random: Math.random,
      isMessage: task.qstash != null,
      isMcp: task.isReport === true && task.subscriptionId !== null,
    })
    this.#dueAt = sentAt - (startedAt.getTime() - task.scheduledAt.getTime())
    const reason = sentAt - this.#dueAt < lateMs ? null : this.#waitedFor()
    this.finished = toFinishedAttempt(task, headers, shown, this.#next, startedAt, finishedAt, reason)
    this.#forgetRequest()
    this.#ctx.batches.record.push(this)
  }

  // Hundreds of attempts wait for their records, and the collector copies all that they hold.
  #forgetRequest(): void {
    this.#request = null
    this.#claimed.task.payload = null
  }

  #waitedFor() {
    const { wait } = this
    const { task, receivedAt } = this.#claimed
    if (wait === null) return null
    const servedAt = this.#dueAt + this.#ctx.served.servedFrom(task.scheduledAt) - task.scheduledAt.getTime()
    return waitedFor(task, wait, { dueAt: this.#dueAt, servedAt, claimedAt: receivedAt, sentAt: this.#sentAt })
  }

  get queueId(): string | null {
    return this.#claimed.task.queueId
  }

  onRefused(error: unknown): void {
    recordRefused(this.#ctx, this.finished, error)
      .then(recorded => this.onRecorded(recorded))
      .catch(fault => this.#fault(fault))
  }

  onRecorded(recorded: RecordedAttempt | null): void {
    if (__FAILPOINTS__) this.#pass('dispatcher.before_advance', () => this.#report(recorded))
    else this.#report(recorded)
  }

  #report(recorded: RecordedAttempt | null): void {
    try {
      const ctx = this.#ctx
      if (this.queueId !== null) ctx.batches.advance(this.queueId)
      const isBlocked = wasBlocked(this.wait?.blocks ?? noBlocks, this.#dueAt)
      ctx.metrics.attemptEnded(this.finished, recorded !== null, isBlocked, this.#traceparent)
      const state = recorded ? this.#next.state : 'superseded'
      if (state !== 'success' || Math.random() * 100 < ctx.attemptLogPercent) this.#log(state)
      if (__FAILPOINTS__) this.#pass('dispatcher.recorded', () => this.#follow(recorded))
      else this.#follow(recorded)
    } catch (error) {
      this.#fault(error)
    }
  }

  #log(state: string): void {
    const outcome = this.#outcome
    this.#ctx.logAttempt({
      task: this.#ids.task,
      run: this.#ids.run,
      workspace: this.#ids.workspace,
      attempt: this.#ids.attempt,
      outcome: outcome?.kind === 'response' ? outcome.status : outcome?.code,
      durationMs: this.finished.finishedAt.getTime() - this.finished.startedAt.getTime(),
      state,
      trace: this.#traceparent?.slice(3, 35),
    })
  }

  #follow(recorded: RecordedAttempt | null): void {
    if (!recorded?.dueAt) this.#end()
    else
      followUp(this.#ctx, this.#ids, recorded)
        .then(() => this.#end())
        .catch(error => this.#fault(error))
  }

  #end(fault?: unknown): void {
    if (this.#isOver) return
    this.#isOver = true
    this.onOver(fault)
  }

  #pass(name: string, step: () => void): void {
    if (__FAILPOINTS__)
      failpoint(name)
        .then(step)
        .catch(error => this.#fault(error))
  }
}

/** Returns the record of an attempt. The headers and the outcome must not show secrets. */
function toFinishedAttempt(
  task: ClaimedTask,
  headers: Readonly<Record<string, string>>,
  outcome: AttemptOutcome,
  next: NextAttempt,
  startedAt: Date,
  finishedAt: Date,
  waitedFor: WaitReason | null,
): FinishedAttempt {
  const response = outcome.kind === 'response' ? outcome : null
  const error = outcome.kind === 'failure' ? outcome : next.state === 'success' ? null : wrongStatus(outcome)
  return {
    taskId: task.taskId,
    runId: task.runId,
    state: next.state,
    retryDelayMs: next.state === 'retrying' ? next.delayMs : null,
    status: next.state === 'success' ? 'success' : 'failed',
    scheduledAt: task.scheduledAt,
    startedAt,
    finishedAt,
    requestHeaders: JSON.stringify(headers),
    responseStatus: response?.status ?? null,
    responseHeaders: response && withoutNul(JSON.stringify(response.headers)),
    responseBody: response?.body ?? null,
    responseBytes: response?.bodyBytes ?? null,
    responseTruncated: response?.bodyTruncated ?? false,
    errorCode: error?.code ?? null,
    errorMessage: error?.message ?? response?.note ?? null,
    waitedFor,
    timings: outcome.timings ?? null,
  }
}

function wrongStatus({ status, headers: { location }, note }: ResponseOutcome): { code: string; message: string } {
  const isRedirect = status >= 300 && status < 400 && typeof location === 'string'
  const redirect = isRedirect ? ` Redirects are not followed (Location: ${location.slice(0, 2048)}).` : ''
  return {
    code: 'http_status',
    message: `The target answered with status ${status}.${redirect}${note === null ? '' : ` ${note}`}`,
  }
}

// PostgreSQL cannot store NUL, and a response must not prevent the record of its run.
function withoutNul(json: string): string {
  return json.includes('\\u0000') ? json.replaceAll('\\u0000', '\\ufffd') : json
}
