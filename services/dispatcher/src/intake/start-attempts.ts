import type { Claim } from '@belfry/db/tasks/claimed-row'
import { askedDelayMs } from '@belfry/domain/next-attempt'
import { failpoint, steadyTime } from '@belfry/runtime'
import { Attempt } from '../attempt/attempt.ts'
import type { Wait } from '../attempt/waited-for.ts'
import type { Context } from '../context.ts'
import { type HealthSignal, healthSignalOf } from '../scheduling/circuit-breaker.ts'
import type { Blocks } from '../scheduling/host.ts'
import type { Slot } from '../scheduling/slot.ts'
import type { AttemptOutcome } from '../secrets/attempt-outcome.ts'
import { pauseHost, reportCircuit } from './circuits.ts'
import { targetOf } from './incoming-task.ts'
import { abandonClaim, type ClaimWaiter, type PendingClaim, releaseClaim, requestClaim } from './pending-claim.ts'
import { enterJournal, prefetchClaims, undoPrefetched } from './prefetch-claims.ts'
import { requeue } from './requeue.ts'
import type { BufferedTask } from './task-buffer.ts'

const busyPauseMs = 20
// The prefetched claims that should start within this time are entered into the send journal together.
const journalAheadMs = 25
// A job brings its tasks at most a second early. For any other task a timer fires again after this time.
const maxTimerMs = 60_000
// A task whose time was moved further ahead does not wait in the process.
const maxDelayMs = 2_000

/**
 * Starts attempts while there are free slots, and queued tasks that may take them. Requires a recent heartbeat:
 * otherwise a scheduler may be about to end this process, with its new claims. The next heartbeat calls this again.
 */
export function startAttempts(ctx: Context): void {
  if (!ctx.fence.holds(ctx.dispatcher.session)) return
  while (!ctx.stop.aborted && ctx.attempts.hasCapacity(ctx.hostQueues.slowCalls)) {
    const slot = ctx.hostQueues.next()
    if (!slot) break
    if (slot.task.onSlot) slot.task.onSlot(slot)
    else new AttemptInSlot(ctx, slot).start()
  }
  for (const { host, at } of ctx.hostQueues.takeWakeUps()) setTimeout(unblock, at - steadyTime(), ctx, host)
}

function unblock(ctx: Context, host: string): void {
  ctx.hostQueues.unblock(host)
  startAttempts(ctx)
}

/**
 * Queues a buffered task at its time. Timers have whole milliseconds and may fire a little early; the claim is answered
 * `early` then.
 */
export function queueWhenDue(ctx: Context, task: BufferedTask): void {
  const now = ctx.clock.now()
  if (task.dueAt <= now) queue(ctx, task)
  else ctx.timers.add(task, Math.min(task.dueAt, now + maxTimerMs), due => startDue(ctx, due))
}

function startDue(ctx: Context, tasks: readonly BufferedTask[]): void {
  for (const task of tasks) queue(ctx, task)
  startAttempts(ctx)
}

function queue(ctx: Context, task: BufferedTask): void {
  if (ctx.tenants.find(task.workspace)?.isSuspended) ctx.buffer.evict(task)
  else ctx.hostQueues.add(task)
}

/**
 * Queues a task again that was not claimed. When it is due much later, or the process stops, it is requeued instead. Never
 * rejects.
 */
async function queueAgain(ctx: Context, task: BufferedTask): Promise<void> {
  const isSoon = task.dueAt - ctx.clock.now() <= maxDelayMs
  if (isSoon && !ctx.stop.aborted) queueWhenDue(ctx, task)
  else await requeue(ctx, [task]) // its new time has a job already, unless that was lost
}

/**
 * The attempt of a task that has a slot: claims it, or uses its prefetched claim. A claimed task leaves the buffer.
 * While the database is away, claims wait and the task keeps its slot. The slot is released when the call has become
 * slow, or as soon as it has ended: the next call does not wait for the record of this one.
 */
class AttemptInSlot extends Attempt implements ClaimWaiter, Wait {
  readonly bufferedAt: number
  readonly isBacklog: boolean
  readonly blocks: Blocks
  readonly slotAt = performance.now()
  readonly #ctx: Context
  readonly #slot: Slot<BufferedTask>
  #runId: string | null = null

  constructor(ctx: Context, slot: Slot<BufferedTask>) {
    super(ctx)
    this.bufferedAt = slot.task.bufferedAt
    this.isBacklog = slot.task.isBacklog
    this.blocks = slot.blocks
    this.#ctx = ctx
    this.#slot = slot
  }

  protected override get wait(): Wait {
    return this
  }

  start(): void {
    this.#ctx.attempts.begin()
    if (__FAILPOINTS__)
      failpoint('dispatcher.before_claim')
        .then(() => this.#claim())
        .catch(error => this.#leave(error))
    else this.#claim()
  }

  #claim(): void {
    const { task } = this.#slot
    const claim = task.pendingClaim ?? requestClaim(this.#ctx, task)
    claim.tell(this)
  }

  onClaim(claim: PendingClaim): void {
    const { answer } = claim
    if (answer === null) this.#giveUp(claim.error)
    else if (answer.kind !== 'claimed') this.#refuse(answer)
    else if (this.#isSuspended() || !this.#ctx.fence.holds(claim.session)) this.#undo()
    else if (claim.journaledRun === null || claim.entry === 'written') this.#begin(claim)
    else if (claim.entry === 'refused') this.#undo()
    else if (claim.entry === 'none') enterJournal(this.#ctx, claim, this.#slot.startingWithin(journalAheadMs))
  }

  onJournaled(claim: PendingClaim, isWritten: boolean): void {
    if (isWritten) this.#begin(claim)
    else this.#undo()
  }

  #isSuspended(): boolean {
    return this.#ctx.tenants.find(this.#slot.task.workspace)?.isSuspended ?? false
  }

  #begin({ answer, session }: PendingClaim): void {
    if (answer?.kind !== 'claimed') return
    const { task } = this.#slot
    task.pendingClaim = undefined
    this.#ctx.buffer.evict(task)
    // An earlier answer, `early` or `busy`, may have moved it. The buffer recognizes a deferred task by its stored time.
    task.dueAt = answer.task.scheduledAt.getTime()
    this.#runId = answer.task.runId
    this.begin(answer, session, task.waited)
  }

  protected override onDeferred(until: Promise<unknown>): void {
    const ctx = this.#ctx
    const task = ctx.buffer.add(this.#slot.task, ctx.tenants.find(this.#slot.task.workspace)?.account)
    if (typeof task === 'string') return // it is in PostgreSQL, where a search finds it
    task.waited = until
    ctx.deferred.set(task, until)
    const resume = () => {
      if (!ctx.deferred.delete(task)) return
      task.bufferedAt = performance.now() // this wait is not one for a slot
      void queueAgain(ctx, task).finally(() => startAttempts(ctx))
    }
    until.then(resume, resume)
  }

  protected override onCalling(bytes: number): void {
    this.#slot.beginCall(bytes)
  }

  protected override onCalled(outcome: AttemptOutcome): void {
    this.#release(healthSignalOf(outcome))
    if (this.#ctx.retryAfterMaxMs > 0)
      pauseHost(this.#ctx, this.#slot.task, askedDelayMs(outcome, new Date(this.#ctx.clock.now())))
    startAttempts(this.#ctx)
    prefetchClaims(this.#ctx, this.#slot.prefetchNext())
  }

  // After a fault the entry in the journal stays: the attempt is not recorded.
  protected override onOver(fault?: unknown): void {
    releaseClaim(this.#ctx, this.#slot.task)
    if (fault === undefined && this.#runId !== null) this.#ctx.journal.close(this.#runId)
    this.#leave(fault)
  }

  // It needs another kind of claim, its time or target was changed, another transaction holds its row, or there is nothing
  // more to do for it.
  #refuse(answer: Exclude<Claim, { kind: 'claimed' }>): void {
    const ctx = this.#ctx
    const { task } = this.#slot
    if (answer.kind === 'queued') task.isQueued = true
    if (answer.kind === 'queued' || answer.kind === 'not_prefetchable') {
      requestClaim(ctx, task).tell(this) // with its slot, so it keeps its place
      return
    }
    task.pendingClaim = undefined
    if (answer.kind !== 'busy') releaseClaim(ctx, task)
    if (answer.kind === 'gone' || answer.kind === 'blocked') {
      ctx.buffer.evict(task)
      // The wake-up for a rate limit, or for a permit that became free during the claim.
      if (answer.kind === 'blocked') ctx.batches.advance(answer.queueId)
      this.#leave()
      return
    }
    if (answer.kind === 'early') task.dueAt = ctx.clock.now() + answer.dueInMs
    if (answer.kind === 'busy') task.dueAt = ctx.clock.now() + busyPauseMs
    if (answer.kind === 'moved') Object.assign(task, targetOf(answer.origin))
    this.#queueAgain()
  }

  #undo(): void {
    undoPrefetched(this.#ctx, [this.#slot.task])
      .then(waiting => (waiting.length > 0 ? this.#queueAgain() : this.#leave()))
      .catch(error => this.#leave(error))
  }

  #queueAgain(): void {
    this.#release(null)
    void queueAgain(this.#ctx, this.#slot.task).finally(() => this.#leave())
  }

  #giveUp(error: unknown): void {
    const ctx = this.#ctx
    const { task } = this.#slot
    ctx.buffer.evict(task)
    abandonClaim(ctx, task)
    if (ctx.stop.aborted) void requeue(ctx, [task]).finally(() => this.#leave())
    else this.#leave(error)
  }

  #leave(fault?: unknown): void {
    if (fault !== undefined) this.#ctx.log.error({ err: fault }, 'attempt.fault')
    this.#release(null)
    this.#ctx.attempts.end()
    startAttempts(this.#ctx)
  }

  #release(signal: HealthSignal): void {
    if (signal === null) this.#slot.forgetStart()
    const change = this.#slot.release(signal)
    if (change) reportCircuit(this.#ctx, this.#slot.task, change)
  }
}
