import { waitFor } from '@belfry/test-support/wait-for'
import { makeWorkerUtils } from 'graphile-worker'
import { PgBoss } from 'pg-boss'
import type { Child } from '../lab/child-process.ts'
import { type Database, readRow } from '../lab/database.ts'
import { type Lab, processGroups, requireCalls } from '../lab/lab.ts'
import { payload } from '../lab/tasks.ts'
import { measureWindow } from '../measure/window.ts'
import type { DurableJobOptions, Job } from '../programs/jobs.ts'
import type { PgBossOptions } from '../programs/pg-boss.ts'
import type { DispatchSide } from './belfry.ts'

/** A general job queue with a durable job. */
export type DurableQueue = {
  add(database: Database, count: number): Promise<void>
  startWorker(options: DurableJobOptions): Promise<Child>
  jobsLeft(database: Database): Promise<number>
}

/** Returns a side on which a job queue makes the calls. Every call must be stored as a run. */
export function raceDurableQueue(lab: Lab, queue: DurableQueue): DispatchSide {
  return async ({ concurrency, count }) => {
    const database = await lab.freshDatabase()
    await queue.add(database, count)
    const workspace = await readRow<{ id: string }>(database, 'SELECT id FROM workspaces LIMIT 1')
    lab.target.counter.reset()
    const worker = await queue.startWorker({ databaseUrl: database.url, concurrency, workspaceId: workspace.id })
    try {
      const measuring = measureWindow(lab.target.counter, count, processGroups(lab, [worker.pid]))
      worker.channel.send('go')
      const sample = await measuring
      await requireCalls(lab, count)
      const text = `SELECT count(*)::int AS runs FROM runs WHERE status = 'success'`
      await waitFor(
        async () => ({ ...(await readRow<{ runs: number }>(database, text)), left: await queue.jobsLeft(database) }),
        ({ runs, left }) => runs === count && left === 0,
        60_000,
      )
      return sample
    } finally {
      await worker.stop()
      await database.close()
    }
  }
}

const bossQueue = 'calls'

export function pgBossSide(lab: Lab): DispatchSide {
  return raceDurableQueue(lab, {
    async add({ url, pool }, count) {
      const boss = new PgBoss({ connectionString: url, supervise: false, schedule: false })
      await boss.start()
      await boss.createQueue(bossQueue)
      for (const jobs of inBulks(count, { data: jobOf(lab) })) await boss.insert(bossQueue, jobs)
      await boss.stop({ graceful: false })
      await pool.query('ANALYZE pgboss.job')
    },
    startWorker: options => lab.startProgram('pg-boss', { ...options, queue: bossQueue } satisfies PgBossOptions),
    async jobsLeft(database) {
      const text = `SELECT count(*)::int AS left FROM pgboss.job WHERE state <> 'completed'`
      return (await readRow<{ left: number }>(database, text)).left
    },
  })
}

export function graphileWorkerSide(lab: Lab): DispatchSide {
  return raceDurableQueue(lab, {
    async add({ url, pool }, count) {
      const utils = await makeWorkerUtils({ connectionString: url })
      await utils.migrate()
      for (const jobs of inBulks(count, { identifier: 'call', payload: jobOf(lab) })) await utils.addJobs(jobs)
      await utils.release()
      await pool.query('ANALYZE graphile_worker._private_jobs')
    },
    startWorker: options => lab.startProgram('graphile-worker', options),
    async jobsLeft(database) {
      const text = 'SELECT count(*)::int AS left FROM graphile_worker.jobs'
      return (await readRow<{ left: number }>(database, text)).left
    },
  })
}

function jobOf(lab: Lab): Job {
  return { url: lab.target.url(), body: payload }
}

function inBulks<T>(count: number, job: T): T[][] {
  const bulk = 1_000
  return Array.from({ length: Math.ceil(count / bulk) }, (_, i) =>
    Array.from({ length: Math.min(bulk, count - i * bulk) }, () => job),
  )
}
