import { randomUUID } from 'node:crypto'
import type { Claim, ClaimRequest } from '@belfry/db/tasks/claimed-row'
import type { Context } from '../context.ts'
import type { BufferedTask } from './task-buffer.ts'

/** Is told the answer to a claim, and whether it was entered into the send journal. The methods must not throw. */
export type ClaimWaiter = {
  onClaim(claim: PendingClaim): void
  onJournaled(claim: PendingClaim, isWritten: boolean): void
}

export class PendingClaim {
  readonly request: ClaimRequest
  readonly session: string
  /** Null until it is known, and after an error. */
  answer: Claim | null = null
  error: unknown = null
  /** Its entry in the send journal. `undone`: the claim was undone, so its entry is obsolete. */
  entry: 'none' | 'entering' | 'written' | 'refused' | 'undone' = 'none'
  #isAnswered = false
  #waiter: ClaimWaiter | null = null
  #onAnswered: (() => void) | null = null

  constructor(request: ClaimRequest, session: string) {
    this.request = request
    this.session = session
  }

  /** The id of the run to enter into the send journal, or null. */
  get journaledRun(): string | null {
    return this.answer?.kind === 'claimed' && this.answer.task.prefetched ? this.answer.task.runId : null
  }

  /** Tells a waiter the answer, at once when it is known, and then about the entry. */
  tell(waiter: ClaimWaiter): void {
    this.#waiter = waiter
    if (this.#isAnswered) waiter.onClaim(this)
  }

  /** Resolves when the claim is answered, or has failed. */
  whenAnswered(): Promise<void> {
    if (this.#isAnswered) return Promise.resolve()
    return new Promise(resolve => {
      this.#onAnswered = resolve
    })
  }

  onAnswer(answer: Claim): void {
    this.answer = answer
    this.#end()
  }

  onError(error: unknown): void {
    this.error = error
    this.#end()
  }

  onJournaled(isWritten: boolean): void {
    if (this.entry !== 'entering') return // it was undone meanwhile
    this.entry = isWritten ? 'written' : 'refused'
    this.#waiter?.onJournaled(this, isWritten)
  }

  #end(): void {
    this.#isAnswered = true
    this.#waiter?.onClaim(this)
    this.#onAnswered?.()
  }
}

/** Requests the claim of a task. When an earlier answer is unknown, the same token finds the claim if it was made. */
export function requestClaim(ctx: Context, task: BufferedTask, isPrefetch = false): PendingClaim {
  if (task.token === undefined) {
    task.token = randomUUID()
    ctx.held.add(task.token)
  }
  const request = {
    taskId: task.id,
    origin: task.origin,
    token: task.token,
    isPrefetch,
    isQueued: task.isQueued ?? false,
  }
  const claim = new PendingClaim(request, ctx.dispatcher.session)
  task.pendingClaim = claim
  ctx.batches.claim(claim)
  return claim
}

/** Ends this process's responsibility for the claim of a task: it was recorded, undone, or not made. */
export function releaseClaim(ctx: Context, task: BufferedTask): void {
  if (task.token !== undefined) ctx.held.release(task.token)
  task.token = undefined
}

/** Ends the wait for the answer to a claim. The request was not sent. */
export function abandonClaim(ctx: Context, task: BufferedTask): void {
  if (task.token !== undefined) ctx.held.abandon(task.token)
  task.token = undefined
}
