import { retryDatabase } from '@belfry/db/postgres/retry-database'
import { steadyTime } from '@belfry/runtime'
import type { Context } from '../context.ts'
import { AttemptInSlot } from './attempt-in-slot.ts'
import { positionBefore } from './backlog.ts'
import { requeue } from './requeue.ts'
import type { BufferedTask, IncomingTask } from './task-buffer.ts'

// A job brings its tasks at most a second early. For any other task a timer fires again after this time.
const maxTimerMs = 60_000
// A task whose time was moved further ahead does not wait in the process.
const maxDelayMs = 2_000

/**
 * Buffers tasks, and starts the attempts that may start. Tasks that the full buffer refuses stay in PostgreSQL, and
 * enter the backlog. Tasks of suspended workspaces stay there too.
 * @returns How many tasks were taken, and how many were refused.
 */
export function admit(ctx: Context, tasks: readonly IncomingTask[]): { taken: number; refused: number } {
  const count = { taken: 0, refused: 0 }
  const ofUnknown = new Map<string, BufferedTask[]>()
  for (const task of tasks) {
    const tenant = ctx.tenants.find(task.workspace)
    if (tenant?.isSuspended) continue
    const buffered = ctx.buffer.add(task, tenant?.account)
    if (buffered === 'full') {
      ctx.backlog.add(task.workspace, task.dueAt, positionBefore(task))
      count.refused++
    } else if (buffered !== 'duplicate') {
      if (tenant) queueWhenDue(ctx, buffered)
      else {
        const others = ofUnknown.get(task.workspace)
        if (others) others.push(buffered)
        else ofUnknown.set(task.workspace, [buffered])
      }
      count.taken++
    }
  }
  for (const [workspace, buffered] of ofUnknown) queueWhenKnown(ctx, workspace, buffered)
  startAttempts(ctx)
  return count
}

// The share of a task depends on its tenant. Once that is known, tasks of the workspace are queued without a statement.
function queueWhenKnown(ctx: Context, workspace: string, tasks: readonly BufferedTask[]): void {
  const onWait = (error: unknown) => ctx.log.warn({ err: error }, 'tenants.waiting_for_database')
  retryDatabase(() => ctx.tenants.load(workspace), { onWait, signal: ctx.stop })
    .then(() => queueUnlessStopped(ctx, tasks))
    .catch(error => {
      ctx.log.warn({ err: error }, 'tenants.unknown')
      return requeue(ctx, tasks)
    })
}

/** Queues buffered tasks at their time. When the process stops, they are requeued instead. */
export async function queueUnlessStopped(ctx: Context, tasks: readonly BufferedTask[]): Promise<void> {
  if (ctx.stop.aborted) return requeue(ctx, tasks)
  for (const task of tasks) queueWhenDue(ctx, task)
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
 * Starts attempts while there are free slots, and queued tasks that may take them. Requires a recent heartbeat:
 * otherwise a scheduler may be about to end this process, with its new claims. The next heartbeat calls this again.
 */
export function startAttempts(ctx: Context): void {
  if (!ctx.fence.holds(ctx.dispatcher.session)) return
  while (!ctx.stop.aborted && ctx.attempts.hasCapacity(ctx.hostQueues.slowCalls)) {
    const slot = ctx.hostQueues.next()
    if (!slot) break
    if (slot.task.onSlot) slot.task.onSlot(slot)
    else new AttemptInSlot(ctx, slot, intake).start()
  }
  for (const { host, at } of ctx.hostQueues.takeWakeUps()) setTimeout(unblock, at - steadyTime(), ctx, host)
}

function unblock(ctx: Context, host: string): void {
  ctx.hostQueues.unblock(host)
  startAttempts(ctx)
}

const intake = { startAttempts, queueAgain }

/** Queues a task again that was not claimed. When it is due much later, or the process stops, it is requeued instead. */
async function queueAgain(ctx: Context, task: BufferedTask): Promise<void> {
  const isSoon = task.dueAt - ctx.clock.now() <= maxDelayMs
  if (isSoon && !ctx.stop.aborted) queueWhenDue(ctx, task)
  else await requeue(ctx, [task]) // its new time has a job already, unless that was lost
}
