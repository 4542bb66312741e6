// graphile-worker with its local queue and batched completion.
import { Logger, run } from 'graphile-worker'
import { endWithParent, parentSaysGo } from '../lab/parent.ts'
import { createDurableJob, type DurableJobOptions, type Job } from './jobs.ts'

endWithParent()
const options = JSON.parse(process.argv[2] ?? '') as DurableJobOptions // as the bench writes it
const perform = createDurableJob(options)
await parentSaysGo()
await run({
  preset: {
    worker: {
      connectionString: options.databaseUrl,
      concurrentJobs: options.concurrency,
      maxPoolSize: 10,
      pollInterval: 500,
      localQueue: { size: 500 },
      completeJobBatchDelay: 5,
      failJobBatchDelay: 5,
      logger: new Logger(() => () => {}), // by default it writes a line for each job
    },
  },
  taskList: { call: job => perform(job as Job) }, // as the bench has added it
})
