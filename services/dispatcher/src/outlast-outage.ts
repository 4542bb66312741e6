import { setTimeout as sleep } from 'node:timers/promises'
import { isTransientDatabaseError } from '@belfry/db'
import { toId } from '@belfry/domain'
import type { Context } from './context.ts'

const longestOutageMs = 15 * 60_000

/**
 * Records what became of a run, when the database is back. It is kept until then, also beyond the lease: nobody can end
 * the attempt either meanwhile, and the fence refuses the record if somebody was faster.
 */
export async function outlastOutage<T>(ctx: Context, runId: string, record: () => Promise<T>): Promise<T> {
  const giveUpAt = performance.now() + longestOutageMs
  for (let pauseMs = 50; ; pauseMs = Math.min(pauseMs * 2, 1_000)) {
    try {
      return await record()
    } catch (error) {
      if (!isTransientDatabaseError(error) || performance.now() > giveUpAt) throw error
      ctx.log.warn({ err: error, run: toId('run', runId) }, 'record.waiting_for_database')
      await sleep(pauseMs)
    }
  }
}
