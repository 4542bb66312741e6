// The receiver of `npm run prove:once`: handles each order in its store, and loses some of its answers.
import { createServer, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { webhooks } from '@belfry/client'
import { type StoreName, stores } from './stores.ts'

const { PORT, SIGNING_SECRET, STORE, STORE_URL = '' } = process.env
const handle = stores[STORE as StoreName].handle(STORE_URL)

createServer((request, response) => {
  receive(request).then(
    isAnswerLost => (isAnswerLost ? request.socket.destroy() : response.writeHead(204).end()),
    error => response.writeHead(500).end(String(error)),
  )
}).listen(Number(PORT), '127.0.0.1')

async function receive(request: IncomingMessage): Promise<boolean> {
  const { id, payload } = await webhooks.verify<{ order: number }>(
    await buffer(request),
    request.headers,
    SIGNING_SECRET,
  )
  await handle(id, payload.order)
  // A moment in which a kill comes between the commit and the answer.
  await sleep(Math.random() * 50)
  return payload.order % 20 === 0 && request.headers['x-belfry-attempt'] === '1'
}
