import { activityLog } from './activity-log.ts'
import { batch } from './batch.ts'
import type { Benchmark } from './benchmark.ts'
import { burst } from './burst.ts'
import { create } from './create.ts'
import { dispatch } from './dispatch.ts'
import { event } from './event.ts'
import { exportRuns } from './export.ts'
import { growth } from './growth.ts'
import { jobQueues } from './job-queues.ts'
import { lag } from './lag.ts'
import { lightLoad } from './light-load.ts'
import { memory } from './memory.ts'
import { queueMemory } from './queue-memory.ts'
import { twoDispatchers } from './two-dispatchers.ts'
import { withoutRedis } from './without-redis.ts'
import { writes } from './writes.ts'

/** Every benchmark, in the order in which they are run and shown. */
export const allBenchmarks: readonly Benchmark[] = [
  dispatch(50),
  dispatch(200),
  jobQueues(50),
  jobQueues(200),
  twoDispatchers,
  withoutRedis,
  create,
  batch,
  lag,
  event,
  lightLoad,
  burst,
  growth,
  activityLog,
  writes,
  queueMemory,
  exportRuns,
  memory,
]
