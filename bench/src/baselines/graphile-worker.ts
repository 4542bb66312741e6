// graphile-worker doing Belfry's job, with its local queue and batched completion on.
import { Logger, run } from 'graphile-worker'
import { endWithParent, parentSaysGo } from '../lab/parent.ts'
import { createDurableJob, type DurableJob, type DurableJobOptions } from './durable-job.ts'

export type GraphileOptions = DurableJobOptions & { localQueueSize: number; completeJobBatchDelayMs: number }

endWithParent()
const options = JSON.parse(process.argv[2] ?? '') as GraphileOptions // as the bench writes it
const perform = createDurableJob(options)
await parentSaysGo()
await run({
  preset: {
    worker: {
      connectionString: options.databaseUrl,
      concurrentJobs: options.concurrency,
      maxPoolSize: 10,
      pollInterval: 500,
      localQueue: { size: options.localQueueSize },
      completeJobBatchDelay: options.completeJobBatchDelayMs,
      failJobBatchDelay: options.completeJobBatchDelayMs,
      logger: new Logger(() => () => {}), // it would write a line for each job
    },
  },
  taskList: { call: payload => perform(payload as DurableJob) }, // as the bench has added it
})
