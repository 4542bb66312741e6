import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Returns the CPU milliseconds that a function takes; other programs on the machine change them little. */
export function cpuTimeOf(run: () => unknown): number {
  const before = process.cpuUsage()
  run()
  // Only their sum is exact: the kernel divides it by samples.
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

/**
 * Returns the milliseconds of the longest event-loop iteration until a promise settles: the CPU time of the process, or the time
 * that passed where that is less, because other threads of the process have CPU time of their own.
 */
async function maxStallOf(run: () => Promise<unknown>): Promise<number> {
  let max = 0
  let [since, before] = [performance.now(), process.cpuUsage()]
  let isOver = false
  const measure = () => {
    const { user, system } = process.cpuUsage(before)
    max = Math.max(max, Math.min(performance.now() - since, (user + system) / 1000))
    since = performance.now()
    before = process.cpuUsage()
    if (!isOver) setImmediate(measure)
  }
  setImmediate(measure)
  await run().finally(() => {
    isOver = true
  })
  measure()
  return max
}

/** What work costs the process that does it: the longest stall of its event loop, and by how much its heap grows. */
export type Cost = { stallMs: number; heapBytes: number }

const rounds = 3

/**
 * Returns the least cost of work in up to three rounds, the last of which is within the limits: the first one compiles the code,
 * and other programs of the machine only add.
 * @param prepare - Returns the work of a round.
 */
export async function leastCostOf(prepare: () => Promise<() => Promise<unknown>>, limits: Cost): Promise<Cost> {
  const least = { stallMs: Number.POSITIVE_INFINITY, heapBytes: Number.POSITIVE_INFINITY }
  for (let round = 0; round < rounds && least.stallMs > limits.stallMs; round++) {
    const run = await prepare()
    least.heapBytes = Math.min(
      least.heapBytes,
      await growthOf(
        async () => {
          least.stallMs = Math.min(least.stallMs, await maxStallOf(run))
        },
        () => process.memoryUsage().heapUsed,
        1,
      ),
    )
  }
  // Most of it may be garbage. To collect it blocks the event loop.
  if (least.heapBytes > limits.heapBytes) least.heapBytes = await growthOf(await prepare(), liveHeap, 200)
  return least
}

async function growthOf(run: () => Promise<unknown>, read: () => number, everyMs: number): Promise<number> {
  const before = read()
  let max = before
  const sample = () => {
    max = Math.max(max, read())
  }
  const sampler = setInterval(sample, everyMs)
  await run().finally(() => clearInterval(sampler))
  sample()
  return max - before
}

/** Collects the garbage, and returns the bytes of the live objects. */
export function liveHeap(): number {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
  return process.memoryUsage().heapUsed
}
