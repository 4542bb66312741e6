import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { countQuarantined } from '@belfry/db/tasks/quarantine'
import { every } from '@belfry/runtime'
import type { Context } from '../context.ts'
import { sharePermits } from './share-permits.ts'

/** The argument that makes the dispatcher's program run the quarantine. */
export const quarantineArgument = 'quarantine'

const maxProcesses = 4

/**
 * Starts up to four quarantine processes while tasks are due that were lost with a dispatcher. Each process asks this
 * dispatcher for a permit, and makes one attempt at a time. So a task that kills its process does not affect other
 * tasks. A process ends by itself when no such task is due.
 * @param program - The program of the dispatcher.
 */
export function superviseQuarantine(ctx: Context, program: string): { close(): Promise<void> } {
  const processes = new Set<ChildProcess>()

  function start(): void {
    const child = fork(program, [quarantineArgument])
    processes.add(child)
    sharePermits(ctx, child)
    child.once('exit', (code, signal) => {
      processes.delete(child)
      if (code !== 0 && !ctx.stop.aborted) ctx.log.warn({ pid: child.pid, code, signal }, 'quarantine.ended')
    })
    child.once('error', error => {
      processes.delete(child)
      ctx.log.error({ err: error }, 'quarantine.not_started')
    })
  }

  const look = {
    intervalMs: 1_000,
    maxIntervalMs: 5_000,
    async run() {
      if (processes.size === maxProcesses) return maxProcesses
      const due = await countQuarantined(ctx.pool, maxProcesses)
      while (processes.size < due && !ctx.stop.aborted) start()
      return due
    },
    onError: (error: unknown) => ctx.log.warn({ err: error, chore: 'supervise-quarantine' }, 'chore.failed'),
  }
  const looking = every(look, ctx.stop)
  return {
    async close() {
      await looking
      const ends = [...processes].map(child => once(child, 'exit'))
      for (const child of processes) child.kill('SIGTERM')
      await Promise.all(ends)
    },
  }
}
