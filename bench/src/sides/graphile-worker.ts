import { makeWorkerUtils } from 'graphile-worker'
import type { GraphileOptions } from '../baselines/graphile-worker.ts'
import type { Lab } from '../lab/lab.ts'
import { payload } from '../lab/tasks.ts'
import type { DispatchSide } from './dispatch-side.ts'
import { raceDurableQueue } from './durable-queue.ts'

const bulk = 1_000
const tuning = { localQueueSize: 500, completeJobBatchDelayMs: 5 }

/** graphile-worker with the same durable job. */
export function graphileWorkerSide(lab: Lab): DispatchSide {
  return raceDurableQueue(lab, {
    tables: ['graphile_worker._private_jobs'],
    async add(connectionString, count) {
      const utils = await makeWorkerUtils({ connectionString })
      await utils.migrate()
      const job = { identifier: 'call', payload: { url: lab.target.url(), body: payload } }
      for (let added = 0; added < count; added += bulk) {
        await utils.addJobs(Array.from({ length: Math.min(bulk, count - added) }, () => job))
      }
      await utils.release()
    },
    start: options => lab.startProgram('graphile-worker', { ...options, ...tuning } satisfies GraphileOptions),
    left: 'SELECT count(*)::int AS left FROM graphile_worker.jobs',
  })
}
