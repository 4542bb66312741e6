import type { DurableJobOptions } from '../baselines/durable-job.ts'
import type { Child } from '../lab/child-process.ts'
import { type Lab, processGroups, requireCalls } from '../lab/lab.ts'
import { waitFor } from '../lab/wait-for.ts'
import { measureWindow } from '../measure/window.ts'
import type { DispatchSide } from './dispatch-side.ts'

/** How a general job queue is put to Belfry's work. */
export type DurableQueue = {
  /** Its tables that hold the jobs. */
  tables: string[]
  /** Puts so many jobs into it. */
  add(databaseUrl: string, count: number): Promise<void>
  /** Starts its worker. */
  start(options: DurableJobOptions): Promise<Child>
  /** Counts as `left` the jobs that it does not yet call done. */
  left: string
}

/** Lets a general job queue make the calls, and makes sure that it has made and kept every one. */
export function raceDurableQueue(lab: Lab, queue: DurableQueue): DispatchSide {
  return async ({ concurrency, count }) => {
    const database = await lab.freshDatabase()
    await queue.add(database.url, count)
    for (const table of queue.tables) await database.pool.query(`ANALYZE ${table}`)
    const { rows } = await database.pool.query<{ id: string }>('SELECT id FROM workspaces LIMIT 1')
    lab.target.counter.reset()
    const options = { databaseUrl: database.url, concurrency, workspaceId: rows[0]?.id ?? '' }
    const worker = await queue.start(options)
    try {
      const measuring = measureWindow(lab.target.counter, count, processGroups(lab, [worker.pid]))
      worker.channel.send('go')
      const sample = await measuring
      await requireCalls(lab, count)
      const runs = `SELECT count(*)::int AS runs, (${queue.left}) AS left FROM runs WHERE status = 'success'`
      await waitFor(`${count} runs and no job left`, async () => {
        const { rows } = await database.pool.query<{ runs: number; left: number }>(runs)
        return rows[0]?.runs === count && rows[0].left === 0
      })
      return sample
    } finally {
      await worker.stop()
      await database.close()
    }
  }
}
