import { Agent, createServer, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { waitUntil } from '@belfry/embedded'
import { openOnLoopback, PlainError } from '@belfry/launcher'

/** The time of this machine in epoch milliseconds, with fractions. */
export const now = () => performance.timeOrigin + performance.now()

/** Where the measured programs send their calls. It answers at once, and remembers the time of each call. */
export async function openTarget() {
  const calls: Array<{ path: string; at: number }> = []
  const server = createServer({ keepAliveTimeout: 60_000 }, (incoming, response) => {
    calls.push({ path: incoming.url ?? '', at: now() })
    incoming.resume().on('end', () => response.end('{"ok":true}'))
  })
  const { url, kill } = await openOnLoopback(server, 0)
  return {
    url,
    /** Waits for so many calls, at most a minute, and forgets them. */
    async take(count: number) {
      const haveArrived = await waitUntil(() => calls.length >= count, 60_000)
      if (!haveArrived) throw new PlainError(`Only ${calls.length} of ${count} calls arrived within a minute.`)
      return calls.splice(0)
    },
    [Symbol.dispose]: kill,
  }
}

/** Returns a function that sends JSON over at most so many kept connections. It rejects when the answer has another status. */
export function openConnections(count: number) {
  const agent = new Agent({ keepAlive: true, maxSockets: count })
  const post = (url: string, body: string, status: number, headers: Record<string, string> = {}): Promise<void> =>
    new Promise((resolve, reject) => {
      const length = { 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) }
      const sent = request(url, { method: 'POST', agent, headers: { ...length, ...headers } }, answer => {
        if (answer.statusCode === status) answer.resume().once('end', resolve)
        else text(answer).then(body => reject(new PlainError(`${url} answered ${answer.statusCode}: ${body}`)), reject)
      })
      sent.once('error', reject).end(body)
    })
  return Object.assign(post, { [Symbol.dispose]: () => agent.destroy() })
}

/** Acts in so many lanes, and returns how often a second. The first fifth of the time warms up. */
export async function ratePerSecond(lanes: number, seconds: number, act: () => Promise<void>): Promise<number> {
  const start = performance.now()
  const [from, to] = [start + seconds * 200, start + seconds * 1_000]
  let count = 0
  const lane = async () => {
    for (let at = start; at < to; at = performance.now()) {
      if (at >= from) count += 1
      await act()
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  return (count / (to - from)) * 1_000
}

/** Returns the rate of calls between a fifth and nearly all of them: at both ends fewer are in flight. */
export function rateOfCalls(calls: ReadonlyArray<{ at: number }>): number {
  const [from, to] = [Math.floor(calls.length * 0.2), Math.floor(calls.length * 0.98)]
  return ((to - from) / ((calls[to]?.at ?? 0) - (calls[from]?.at ?? 0))) * 1_000
}

/** Returns the value below which a share of the values lies. */
export function quantile(values: readonly number[], share: number): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length * share)] ?? Number.NaN
}
