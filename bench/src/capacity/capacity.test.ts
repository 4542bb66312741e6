import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { bounds, costs, sizes } from './assumptions.ts'
import { amount, describeCapacity } from './describe-capacity.ts'
import { limitsOf, needsOf } from './model.ts'
import { profileOf, simulate } from './simulate.ts'

const [small, , large] = sizes.map(load => ({ load, needs: needsOf(load, costs, bounds) }))
if (!small || !large) throw new Error('There are no sizes.')

it('asks for two of each at least, and for dispatchers by the calls that are open when targets are slow', () => {
  expect(needsOf({ ...small.load, dispatchesPerSecond: 1 }, costs, bounds)).toMatchObject({ apis: 2, dispatchers: 2 })
  const slow = needsOf({ ...small.load, answerMs: 10_000 }, costs, bounds)
  expect(slow.dispatchers).toBe((1_000 * 10) / 200)
})

it('grows in proportion, but for what there is at least of', () => {
  const ratio = (of: 'waitingRows' | 'keptRuns' | 'databaseGb' | 'redisMb' | 'walMbPerSecond') =>
    large.needs[of] / small.needs[of]
  for (const of of ['waitingRows', 'keptRuns', 'databaseGb', 'redisMb', 'walMbPerSecond'] as const) {
    expect(ratio(of)).toBeCloseTo(100)
  }
})

it('names first what is fullest, and nothing beyond its bound for a thousand a second', () => {
  const used = limitsOf(large.needs, bounds).map(limit => limit.used)
  expect(used).toEqual([...used].sort((a, b) => b - a))
  expect(used[0]).toBeGreaterThan(1)
  expect(Math.max(...limitsOf(small.needs, bounds).map(limit => limit.used))).toBeLessThan(1)
})

it('has a shard for each core that Redis needs', () => {
  expect(small.needs.queueShards).toBe(1)
  const busy = needsOf({ ...large.load, soonShare: 0.5 }, { ...costs, redisCpuUs: 20, redisCpuAloneUs: 60 }, bounds)
  expect(busy.queueShards).toBe(Math.ceil((100_000 * 40) / 1e6 / bounds.utilisation))
})

it('comes to rest where the model says, after the lead and the time that the log is kept', () => {
  const months = simulate(small.load, costs, 4)
  const last = months.at(-1)
  expect(last?.waitingRows).toBeCloseTo(small.needs.waitingRows, -3)
  expect(last?.keptRuns).toBeCloseTo(small.needs.keptRuns, -3)
  expect(last?.databaseGb).toBeCloseTo(small.needs.databaseGb)
  expect(last?.partitions).toBe(small.needs.partitions)
  expect(months[0]?.keptRuns).toBeLessThan(small.needs.keptRuns)
})

it('has a day whose average is one', () => {
  const hours = Array.from({ length: 24 }, (_, hour) => profileOf(hour))
  expect(hours.reduce((sum, one) => sum + one) / 24).toBeCloseTo(1)
})

it.each([
  [0.05, '0.05'],
  [1234, '1,200'],
  [15_400_000, '15 million'],
  [2_590_000_000, '2.6 billion'],
])('writes %d as %s', (value, text) => expect(amount(value)).toBe(text))

it('is what docs/scaling.md says', () => {
  const page = readFileSync(new URL('../../../docs/scaling.md', import.meta.url), 'utf8')
  expect(page).toContain(describeCapacity())
})
