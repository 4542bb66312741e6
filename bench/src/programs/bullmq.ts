// A BullMQ worker. Without a database it is the floor: it makes the call of each job and stores nothing.
import { Worker } from 'bullmq'
import { endWithParent, parentSaysGo } from '../lab/parent.ts'
import { createDurableJob, createPlainJob, type DurableJobOptions, type Job } from './jobs.ts'

export type BullmqOptions = {
  redisUrl: string
  queue: string
  concurrency: number
  durable: DurableJobOptions | null
}

endWithParent()
const options = JSON.parse(process.argv[2] ?? '') as BullmqOptions // as the bench writes it
const perform = options.durable ? createDurableJob(options.durable) : createPlainJob(options.concurrency)

const worker = new Worker<Job>(options.queue, job => perform(job.data), {
  connection: { url: options.redisUrl, maxRetriesPerRequest: null },
  concurrency: options.concurrency,
  removeOnComplete: { count: 0 },
  removeOnFail: { count: 0 },
  autorun: false,
})
worker.on('error', error => console.error(error))
worker.on('failed', (_, error) => console.error(error))
await worker.waitUntilReady()
await parentSaysGo()
await worker.run()
