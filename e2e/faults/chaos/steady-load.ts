import type { Bench } from '../bench/bench.ts'
import { specOf } from '../bench/load.ts'
import { lasting } from '../bench/moments.ts'

const roundMs = 250

/** Creates tasks at a steady rate, due within seconds, until the end; waits for the last answer. */
export async function steadyLoad(
  bench: Bench,
  options: { random: () => number; endAt: number; perSecond: number },
): Promise<void> {
  const { random, endAt, perSecond } = options
  const beganAt = performance.now()
  const underWay = new Set<Promise<unknown>>()
  let created = 0
  while (performance.now() < endAt) {
    const target = ((performance.now() - beganAt) / 1000) * perSecond
    while (created < target) {
      const spec = specOf(`/steady-${created}`, created, random)
      const creating = bench.create({ ...spec, inMs: 500 + random() * 8_000 }).finally(() => underWay.delete(creating))
      underWay.add(creating)
      created++
    }
    await lasting(roundMs)
  }
  await Promise.all(underWay)
}
