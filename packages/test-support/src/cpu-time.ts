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
export async function maxStallOf(run: () => Promise<unknown>): Promise<number> {
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
