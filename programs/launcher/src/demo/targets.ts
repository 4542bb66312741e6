import { createServer, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { openOnLoopback, type Receiver } from '../echo-receiver.ts'

type Answer = { status: number; delayMs: number; body: unknown }

/** How each path of a fictional shop answers the nth attempt of a task, counted from 1. */
const answers: Record<string, (attempt: number) => Answer> = {
  '/receipts': () => ({ status: 200, delayMs: 20, body: { sent: true } }),
  '/shipping': () => ({ status: 202, delayMs: 60, body: { parcel: 'queued' } }),
  '/invoices': () => ({ status: 201, delayMs: 400, body: { invoice: 'created' } }),
  '/reports': () => ({ status: 200, delayMs: 900, body: { rows: 1200 } }),
  // An API that is often busy, and succeeds in the end.
  '/stock': attempt =>
    attempt < 3
      ? { status: 503, delayMs: 30, body: { error: 'The warehouse is busy.' } }
      : { status: 200, delayMs: 30, body: { stock: 7 } },
  '/legacy': () => ({ status: 500, delayMs: 15, body: { error: 'Something went wrong.' } }),
}

/** Starts the targets of the demo on loopback. */
export async function startTargets(wantedPort: number): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    request.resume()
    const { status, delayMs, body } = answerTo(request)
    await sleep(delayMs)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  return openOnLoopback(server, wantedPort)
}

function answerTo({ url = '', headers }: IncomingMessage): Answer {
  const answer = answers[url]
  return answer ? answer(Number(headers['x-belfry-attempt'])) : { status: 404, delayMs: 0, body: {} }
}
