import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** A call that the target received. Times are milliseconds of `performance.now()`. */
export type TargetCall = { queue: string; index: number; startedAt: number; endedAt: number | null; status: number }

export type QueueTarget = {
  url(queue: string, index: number): string
  readonly calls: readonly TargetCall[]
  /** The maximum number of calls of a queue at the same time. */
  maxInFlight(queue: string): number
  succeeded(queue: string): number[]
  close(): Promise<void>
}

/** Starts a target that sees the queue of each call in its path. `statusOf` decides its status; default: 200. */
export async function startQueueTarget(
  delayMs: number,
  statusOf: (queue: string, index: number) => number = () => 200,
): Promise<QueueTarget> {
  const calls: TargetCall[] = []
  const inFlight = new Map<string, number>()
  const max = new Map<string, number>()
  const server = createServer((request, response) => {
    const [, queue = '', index] = (request.url ?? '').split('/')
    const call: TargetCall = {
      queue,
      index: Number(index),
      startedAt: performance.now(),
      endedAt: null,
      status: statusOf(queue, Number(index)),
    }
    calls.push(call)
    const now = (inFlight.get(queue) ?? 0) + 1
    inFlight.set(queue, now)
    max.set(queue, Math.max(max.get(queue) ?? 0, now))
    const end = () => {
      if (call.endedAt !== null) return
      call.endedAt = performance.now()
      inFlight.set(queue, (inFlight.get(queue) ?? 1) - 1)
    }
    request.resume()
    // A killed dispatcher closes its connections; the call is then over for the target too.
    response.on('close', end)
    void sleep(delayMs).then(() => {
      end() // before the answer, because the dispatcher may start the next call as soon as it has it
      response.writeHead(call.status).end()
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: (queue, index) => `http://127.0.0.1:${port}/${queue}/${index}`,
    calls,
    maxInFlight: queue => max.get(queue) ?? 0,
    succeeded: queue => calls.flatMap(call => (call.queue === queue && call.status === 200 ? [call.index] : [])),
    async close() {
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
