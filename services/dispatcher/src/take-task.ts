import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Claim, isTransientDatabaseError } from '@belfry/db'
import { fromId } from '@belfry/domain'
import type { DueTask } from '@belfry/queue'
import { failpoint } from '@belfry/runtime'
import type { Context } from './context.ts'
import { dispatch } from './dispatch.ts'

// A task that is this early is not waited for in the process.
const longestWaitMs = 2_000
const busyPauseMs = 20
const longestOutagePauseMs = 1_000

/**
 * Takes one task from the queue to its attempt: waits for its instant and for a free slot, claims it, and starts the
 * attempt. Resolves once the task is claimed or turns out not to be ours to dispatch; the attempt goes on by itself.
 * Rejects, with nothing claimed, when the signal is aborted first.
 */
export async function takeTask(ctx: Context, task: DueTask, signal: AbortSignal): Promise<void> {
  await failpoint('dispatcher.job_taken')
  const id = fromId('task', task.id)
  if (id === null) return ctx.log.warn({ job: task.id }, 'job.unknown')
  let dueAt = task.dueAt
  for (;;) {
    await waitUntil(ctx, dueAt, signal)
    const release = await ctx.slots.acquire(signal)
    const claim = await claimOrWait(ctx, id, signal).catch(error => {
      release()
      throw error
    })
    if (claim.kind === 'claimed') return ctx.attempts.track(dispatch(ctx, claim.task).finally(release))
    release()
    if (claim.kind === 'gone') return
    if (claim.kind === 'early') {
      dueAt = ctx.clock.now() + claim.dueInMs
      if (claim.dueInMs > longestWaitMs) return putBack(ctx, task.id, dueAt)
    } else {
      await sleep(busyPauseMs, undefined, { signal })
    }
  }
}

// Timers are whole milliseconds and may fire a little before their time; the claim answers "early" then.
async function waitUntil(ctx: Context, dueAt: number, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  const waitMs = dueAt - ctx.clock.now()
  if (waitMs > 0) await sleep(Math.ceil(waitMs), undefined, { signal })
}

// While the database is away nothing can be claimed, so the job is kept in hand. The token tells a claim whose commit was
// not heard of from one that was lost.
async function claimOrWait(ctx: Context, taskId: string, signal: AbortSignal): Promise<Claim> {
  const token = randomUUID()
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, longestOutagePauseMs)) {
    try {
      return await ctx.claim({ taskId, token })
    } catch (error) {
      if (!isTransientDatabaseError(error)) throw error
      ctx.log.warn({ err: error }, 'claim.waiting_for_database')
      await sleep(pauseMs, undefined, { signal })
    }
  }
}

// The task's time was moved to later than the job says. The new time has a job of its own, unless that was lost.
async function putBack(ctx: Context, taskId: string, dueAt: number): Promise<void> {
  await ctx.enqueue([{ id: taskId, dueAt: Math.round(dueAt) }], ctx.clock.now())
}
