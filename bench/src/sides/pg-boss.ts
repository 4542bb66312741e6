import { PgBoss } from 'pg-boss'
import type { PgBossOptions } from '../baselines/pg-boss.ts'
import type { Lab } from '../lab/lab.ts'
import { payload } from '../lab/tasks.ts'
import type { DispatchSide } from './dispatch-side.ts'
import { raceDurableQueue } from './durable-queue.ts'

const queue = 'calls'
const bulk = 1_000
const batchSize = 25

/** pg-boss with the same durable job. */
export function pgBossSide(lab: Lab): DispatchSide {
  return raceDurableQueue(lab, {
    tables: ['pgboss.job'],
    async add(databaseUrl, count) {
      const boss = new PgBoss({ connectionString: databaseUrl, supervise: false, schedule: false })
      await boss.start()
      await boss.createQueue(queue)
      const job = { data: { url: lab.target.url(), body: payload } }
      for (let added = 0; added < count; added += bulk) {
        await boss.insert(
          queue,
          Array.from({ length: Math.min(bulk, count - added) }, () => job),
        )
      }
      await boss.stop({ graceful: false })
    },
    start: options => lab.startProgram('pg-boss', { ...options, queue, batchSize } satisfies PgBossOptions),
    left: `SELECT count(*)::int AS left FROM pgboss.job WHERE state <> 'completed'`,
  })
}
