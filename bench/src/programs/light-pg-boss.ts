// A small installation of pg-boss in one process: an endpoint that publishes, and a worker that delivers and stores each
// run.
import { PgBoss } from 'pg-boss'
import { endWithParent } from '../lab/parent.ts'
import { createDurableJob, type DurableJobOptions, type Job } from './jobs.ts'
import { type PublishEndpointOptions, servePublishing } from './publish-endpoint.ts'

export type LightPgBossOptions = DurableJobOptions & PublishEndpointOptions

const queue = 'calls'

endWithParent()
const options = JSON.parse(process.argv[2] ?? '') as LightPgBossOptions // as the bench writes it
const perform = createDurableJob(options)
const boss = new PgBoss({ connectionString: options.databaseUrl, max: 10, schedule: false, useListenNotify: true })
boss.on('error', error => console.error(error))
await boss.start()
await boss.createQueue(queue, { notify: true })
// One worker: a notification wakes every worker, and each would look for the same job.
await boss.work<Job>(queue, { batchSize: 25, burstWhenBatchFull: true }, async jobs => {
  await Promise.all(jobs.map(job => perform(job.data)))
})
await servePublishing(options, job => boss.send(queue, job))
process.send?.('ready')
