// A small installation of BullMQ in one process: an endpoint that publishes, and a worker that delivers and stores each
// run in PostgreSQL.
import { Queue, Worker } from 'bullmq'
import { endWithParent } from '../lab/parent.ts'
import { createDurableJob, type DurableJobOptions, type Job } from './jobs.ts'
import { type PublishEndpointOptions, servePublishing } from './publish-endpoint.ts'

export type LightBullmqOptions = DurableJobOptions & PublishEndpointOptions & { redisUrl: string }

const queueName = 'calls'

endWithParent()
const options = JSON.parse(process.argv[2] ?? '') as LightBullmqOptions // as the bench writes it
const perform = createDurableJob(options)
const worker = new Worker<Job>(queueName, job => perform(job.data), {
  connection: { url: options.redisUrl, maxRetriesPerRequest: null },
  concurrency: options.concurrency,
  removeOnComplete: { count: 0 },
})
worker.on('error', error => console.error(error))
worker.on('failed', (_, error) => console.error(error))
await worker.waitUntilReady()
const queue = new Queue<Job>(queueName, { connection: { url: options.redisUrl } })
await servePublishing(options, job => queue.add('call', job))
process.send?.('ready')
