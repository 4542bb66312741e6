import { setTimeout as sleep } from 'node:timers/promises'
import { waitingPageSize, waitingTasks } from '@belfry/db/tasks/due-work'
import { type DueTask, steadyTime, type VirtualRole } from '@belfry/runtime'
import type { Context } from './context.ts'
import { admit } from './intake/admit.ts'
import { shareCircuits } from './intake/circuits.ts'
import { toIncomingTask } from './intake/incoming-task.ts'
import { queueWhenDue, startAttempts } from './intake/start-attempts.ts'
import type { IncomingTask } from './intake/task-buffer.ts'
import { idOf } from './scheduling/queue.ts'

// A task that no attempt takes in so many readings, at least a millisecond apart, waits for something else. On a busy machine
// the readings are slow too, so their number is a better limit than a time.
const maxVainReadings = 5_000

/** Returns the part of the dispatcher in a move of the virtual clock: it makes the attempts that are due. */
export function createVirtualDispatcher(ctx: Context): VirtualRole {
  async function readDueTasks(): Promise<DueTask[]> {
    const until = new Date(ctx.clock.now() + 1) // times have whole milliseconds
    const { value: page } = await waitingTasks(ctx.pool, { from: new Date(0), until }).next()
    return page ?? []
  }

  // Leaves out tasks behind an open circuit breaker.
  function startable(rows: readonly DueTask[]): IncomingTask[] {
    const open = new Set(openCircuits().map(idOf))
    return rows.map(toIncomingTask).filter(task => !open.has(idOf(task)))
  }

  function openCircuits() {
    return ctx.hostQueues.openCircuits().filter(({ openUntil }) => openUntil > steadyTime())
  }

  async function makeAttempts(first: readonly DueTask[]): Promise<number> {
    let found = 0
    let rows = first
    for (let vain = 0; vain <= maxVainReadings; rows = await readDueTasks()) {
      if (ctx.hostQueues.openCircuits().length > 0) await shareCircuits(ctx)
      const tasks = startable(rows)
      const { taken } = admit(ctx, tasks)
      await ctx.attempts.whenEmpty()
      await Promise.allSettled(ctx.deferred.values())
      found = Math.max(found, tasks.length)
      if (tasks.length === 0 || (ctx.buffer.size === 0 && tasks.length < waitingPageSize)) return found
      vain = taken > 0 ? 0 : vain + 1
      if (vain > 0) await sleep(1) // their tenants are being read, or their rows are locked
    }
    return 0
  }

  return {
    moved() {
      for (const task of ctx.timers.takeAll()) queueWhenDue(ctx, task)
      startAttempts(ctx)
      if (ctx.hostQueues.openCircuits().length > 0) ctx.circuitsWaker.wake()
    },
    async work(due) {
      // The scheduler has made tasks of queues due, since the others were read.
      const tasks = due.blocked || due.rateLimits ? await readDueTasks() : due.tasks
      const made = tasks.length > 0 ? await makeAttempts(tasks) : 0
      if (due.messages) {
        ctx.outbox.wake()
        await ctx.outbox.whenIdle()
      }
      return made
    },
    async finishBegun() {
      await ctx.attempts.whenEmpty()
      return ctx.attempts.begun
    },
    nextAt() {
      const times = openCircuits().map(({ openUntil }) => ctx.clock.now() + Math.ceil(openUntil - steadyTime()))
      return Math.min(...times)
    },
  }
}
