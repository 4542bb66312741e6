import { describe, expect, it } from 'vitest'
import type { SmallLoad } from '../sides/small-load.ts'
import { behindNotes, cpuRatioAt100, figuresOfSide, type LightSide } from './light-load-figures.ts'

const load: SmallLoad = {
  memoryFresh: { node: 200, postgres: 40 },
  memoryAfter: { node: 300, postgres: 60 },
  idle: { seconds: 10, cpuUs: { node: 150_000, postgres: 50_000 }, transactions: 20, redisCommands: 40 },
  at10: {
    ...{ seconds: 30.5, cpuUs: { node: 900_000, postgres: 300_000 }, transactions: 961, redisCommands: 6122 },
    ...{ events: 300, p50Ms: 6, p99Ms: 8 },
  },
  at100: {
    ...{ seconds: 30, cpuUs: { node: 2_000_000, postgres: 1_000_000 }, transactions: 6060, redisCommands: 30_120 },
    ...{ events: 3000, p50Ms: 2, p99Ms: 3 },
  },
}
const side: LightSide = { key: 'light', title: 'One', hasRedis: true, limits: { p99At100Ms: { atMost: 8 } } }

describe('the figures of a small installation', () => {
  const figures = figuresOfSide(side, [load])
  const value = (key: string) => figures.find(figure => figure.key === key)?.value

  it('charge an event with the CPU of all processes, idle time included', () => {
    expect(value('light_cpu_us_10')).toBe(4000)
    expect(value('light_cpu_us_100')).toBe(1000)
  })

  it('charge an event with transactions and commands beyond the idle ones of the same time', () => {
    expect(value('light_transactions_10')).toBe(3)
    expect(value('light_redis_commands_10')).toBe(20)
    expect(value('light_transactions_100')).toBe(2)
    expect(value('light_redis_commands_100')).toBe(10)
  })

  it('have the delays, idle usage by the second, and memory over all processes', () => {
    expect(value('light_p50_10_ms')).toBe(6)
    expect(value('light_p99_100_ms')).toBe(3)
    expect(value('light_idle_cpu_percent')).toBe(2)
    expect(value('light_idle_transactions')).toBe(2)
    expect(value('light_idle_redis_commands')).toBe(4)
    expect(value('light_memory_mb')).toBe(240)
    expect(value('light_memory_after_mb')).toBe(360)
  })

  it('have a limit where the side has one', () => {
    const limited = figures.filter(({ limit }) => limit).map(({ key }) => key)
    expect(limited).toEqual(['light_p99_100_ms'])
  })

  it('do not mention Redis without one', () => {
    const keys = figuresOfSide({ ...side, hasRedis: false }, [load]).map(({ key }) => key)
    expect(keys).toHaveLength(12)
    expect(keys.filter(key => key.includes('redis'))).toEqual([])
  })
})

it('compares the CPU of an event round by round', () => {
  const other = { ...load, at100: { ...load.at100, cpuUs: { node: 6_000_000 } } }
  expect(cpuRatioAt100([other, load], [load, other])).toEqual({ value: 1.25, min: 0.5, max: 2 })
})

it('notes a rate that a side fell behind', () => {
  const late = { ...load, at100: { ...load.at100, seconds: 34.5 } }
  expect(behindNotes(side, [load])).toEqual([])
  expect(behindNotes(side, [load, late])).toEqual([
    'One fell 4.5 s behind at 100 a second. Its figures at that rate are those of a backlog.',
  ])
})
