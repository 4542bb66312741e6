import type { ChildProcess } from 'node:child_process'
import type { QuarantinedTask } from '@belfry/db/tasks/quarantine'
import type { Context } from '../context.ts'
import { pauseHost, reportCircuit } from '../intake/circuits.ts'
import { targetOf } from '../intake/incoming-task.ts'
import { startAttempts } from '../intake/start-attempts.ts'
import type { BufferedTask } from '../intake/task-buffer.ts'
import type { HealthSignal } from '../scheduling/circuit-breaker.ts'
import type { Slot } from '../scheduling/slot.ts'

/**
 * What a quarantine process sends to its dispatcher. It asks for one permit at a time, under a number, and ends the request or
 * the permit with the same number. `pauseMs`: for how long the host asked Belfry to pause.
 */
export type PermitMessage =
  | { ask: number; task: QuarantinedTask }
  | { end: number; signal: HealthSignal; pauseMs: number }

/** The answer, with the number of the request: a permit, or that the host is paused. */
export type PermitAnswer = { number: number; isGranted: boolean }

type Request = { number: number; task: BufferedTask; slot: Slot<BufferedTask> | null }

/**
 * Gives a quarantine process slots and permits of its dispatcher: its calls wait in the queues of their hosts like all others,
 * and circuit breakers count them. What the process holds when it ends is released.
 */
export function sharePermits(ctx: Context, child: ChildProcess): void {
  let open: Request | null = null

  // Fails when the process ends: that releases the slot.
  const answer = (message: PermitAnswer) => child.send(message, () => {})

  async function ask(number: number, { id, workspaceId: workspace, origin }: QuarantinedTask): Promise<void> {
    const onSlot = (slot: Slot<BufferedTask>) => {
      request.slot = slot
      answer({ number, isGranted: true })
    }
    const own = { id, workspace, ...targetOf(origin), onSlot }
    const task = { ...own, dueAt: 0, bufferedAt: performance.now(), isBacklog: false, isQueued: true, waited: null }
    const request: Request = { number, task, slot: null }
    open = request
    await ctx.tenants.load(workspace) // the share of the task depends on it
    if (open !== request) return
    if (ctx.hostQueues.isHeld(task)) {
      open = null
      answer({ number, isGranted: false })
      return
    }
    ctx.hostQueues.add(task)
    startAttempts(ctx)
  }

  function end(signal: HealthSignal, pauseMs: number): void {
    if (open === null) return
    const { task, slot } = open
    open = null
    if (slot === null) {
      ctx.hostQueues.take(other => other === task)
      return
    }
    const change = slot.release(signal)
    if (change) reportCircuit(ctx, task, change)
    pauseHost(ctx, task, pauseMs)
    startAttempts(ctx)
  }

  child.on('message', (message: PermitMessage | 'ready') => {
    if (message === 'ready') return
    if ('ask' in message) ask(message.ask, message.task).catch(error => ctx.log.warn({ err: error }, 'tenants.unknown'))
    else if (message.end === open?.number) end(message.signal, message.pauseMs)
  })
  child.once('exit', () => end(null, 0))
}
