// The floor: a BullMQ worker that makes the HTTP call of each job and keeps nothing.

import { Worker } from 'bullmq'
import { endWithParent, parentSaysGo } from '../lab/parent.ts'
import { createCaller } from './callers.ts'

export type FloorOptions = { redisUrl: string; queue: string; concurrency: number; client: 'undici' | 'axios' }

endWithParent()
const options = JSON.parse(process.argv[2] ?? '') as FloorOptions // as the bench writes it
const call = createCaller(options.client, options.concurrency)

const worker = new Worker<{ url: string; body: string }>(
  options.queue,
  async job => {
    const { status } = await call(job.data)
    if (status !== 200) throw new Error(`The target answered with ${status}.`)
  },
  {
    connection: { url: options.redisUrl, maxRetriesPerRequest: null },
    concurrency: options.concurrency,
    removeOnComplete: { count: 0 },
    removeOnFail: { count: 0 },
    autorun: false,
  },
)
worker.on('error', error => console.error(error))
worker.on('failed', (_, error) => console.error(error))
await worker.waitUntilReady()
await parentSaysGo()
await worker.run()
