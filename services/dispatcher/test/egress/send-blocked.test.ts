import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { afterEach, expect, it, onTestFinished } from 'vitest'
import { closeAll, response, senderFor } from './setup-sender.ts'

afterEach(closeAll)

// In a thread of its own, so it responds while this one is blocked.
const target = `
  const { parentPort } = require('node:worker_threads')
  const { createServer } = require('node:http')
  const server = createServer((request, response) => {
    parentPort.postMessage('called')
    setTimeout(() => response.end('in time'), 100)
  })
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))`

it('accepts a response that came in time when this process was too busy to read it', async () => {
  const worker = new Worker(target, { eval: true })
  onTestFinished(async () => void (await worker.terminate()))
  const [port] = await once(worker, 'message')
  const { send } = senderFor()
  const sending = send(`http://127.0.0.1:${port}/`, { timeoutMs: 500 })
  await once(worker, 'message')
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
  expect(await sending).toEqual(response(200))
})
