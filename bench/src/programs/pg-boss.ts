// pg-boss. Several workers share the calls, each with a batch. A worker with a full batch fetches the next one at once, so
// polling never waits while there is work.
import { PgBoss } from 'pg-boss'
import { endWithParent, parentSaysGo } from '../lab/parent.ts'
import { createDurableJob, type DurableJobOptions, type Job } from './jobs.ts'

export type PgBossOptions = DurableJobOptions & { queue: string }

const batchSize = 25

endWithParent()
const options = JSON.parse(process.argv[2] ?? '') as PgBossOptions // as the bench writes it
const perform = createDurableJob(options)
const boss = new PgBoss({ connectionString: options.databaseUrl, max: 10, supervise: false, schedule: false })
boss.on('error', error => console.error(error))
await boss.start()
const workers = {
  batchSize,
  localConcurrency: Math.max(1, Math.round(options.concurrency / batchSize)),
  burstWhenBatchFull: true,
  pollingIntervalSeconds: 0.5,
}
await parentSaysGo()
await boss.work<Job>(options.queue, workers, async jobs => {
  await Promise.all(jobs.map(job => perform(job.data)))
})
