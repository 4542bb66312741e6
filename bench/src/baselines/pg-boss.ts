// pg-boss doing Belfry's job. Several workers share the calls, each with a batch; a full batch is followed by the next
// one at once, so polling never waits while there is work.
import { PgBoss } from 'pg-boss'
import { endWithParent, parentSaysGo } from '../lab/parent.ts'
import { createDurableJob, type DurableJob, type DurableJobOptions } from './durable-job.ts'

export type PgBossOptions = DurableJobOptions & { queue: string; batchSize: number }

endWithParent()
const options = JSON.parse(process.argv[2] ?? '') as PgBossOptions // as the bench writes it
const perform = createDurableJob(options)
const boss = new PgBoss({ connectionString: options.databaseUrl, max: 10, supervise: false, schedule: false })
boss.on('error', error => console.error(error))
await boss.start()
const workers = {
  batchSize: options.batchSize,
  localConcurrency: Math.max(1, Math.round(options.concurrency / options.batchSize)),
  burstWhenBatchFull: true,
  pollingIntervalSeconds: 0.5,
}
await parentSaysGo()
await boss.work<DurableJob>(options.queue, workers, async jobs => {
  await Promise.all(jobs.map(job => perform(job.data)))
})
