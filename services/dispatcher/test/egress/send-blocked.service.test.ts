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
  const { worker, url } = await startTarget()
  const sending = senderFor().send(url, { timeoutMs: 500 })
  await once(worker, 'message')
  block(1_000)
  expect(await sending).toEqual(response(200))
})

it('gives a request that it was too busy to write the time that it lost', async () => {
  const { url } = await startTarget()
  const sending = senderFor().send(url, { timeoutMs: 500 })
  block(1_000) // before the connection is open
  expect(await sending).toEqual(response(200))
})

it('accepts a response that came within the time given back when it was too busy to read that one too', async () => {
  const { worker, url } = await startTarget()
  const sending = senderFor().send(url, { timeoutMs: 500 })
  block(1_000) // before the connection is open
  await once(worker, 'message')
  block(1_000)
  expect(await sending).toEqual(response(200))
})

async function startTarget() {
  const worker = new Worker(target, { eval: true })
  onTestFinished(async () => void (await worker.terminate()))
  const [port] = await once(worker, 'message')
  return { worker, url: `http://127.0.0.1:${port}/` }
}

function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}
