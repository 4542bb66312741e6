import type { Figure, Limit } from '../benchmark.ts'
import { measured, ratioOf } from '../measure/statistics.ts'
import type { RateUsage, SmallLoad, Usage } from '../sides/small-load.ts'

/** How the figures of a side are named, and which of them it has. */
export type LightSide = {
  /** The first part of each key. */
  key: string
  title: string
  hasRedis: boolean
  limits?: Partial<Record<'p99At100Ms' | 'idleCpuPercent' | 'memoryMb', Limit>>
}

type Count = 'transactions' | 'redisCommands'

/** Returns the figures of one side over all rounds. */
export function figuresOfSide({ key, title, hasRedis, limits = {} }: LightSide, loads: readonly SmallLoad[]): Figure[] {
  const figure = (name: string, what: string, of: (load: SmallLoad) => number, unit?: string, limit?: Limit) => ({
    key: `${key}_${name}`,
    title: `${title}: ${what}`,
    ...measured(loads.map(of)),
    ...(unit ? { unit } : {}),
    ...(limit ? { limit } : {}),
  })
  const ofRedis = (...figures: Parameters<typeof figure>): Figure[] => (hasRedis ? [figure(...figures)] : [])
  const atRate = (perSecond: 10 | 100): Figure[] => {
    const rate = `${perSecond} a second`
    const of = (load: SmallLoad) => (perSecond === 10 ? load.at10 : load.at100)
    const perEvent = (what: Count) => (load: SmallLoad) => countPerEvent(what, of(load), load.idle)
    const transactions = `PostgreSQL transactions of an event at ${rate}, less those of an idle installation`
    const commands = `Redis commands of an event at ${rate}, less those of an idle installation`
    const p99Limit = perSecond === 100 ? limits.p99At100Ms : undefined
    return [
      figure(`cpu_us_${perSecond}`, `CPU of an event at ${rate}, all processes`, load => cpuPerEventUs(of(load)), 'us'),
      figure(`transactions_${perSecond}`, transactions, perEvent('transactions')),
      ...ofRedis(`redis_commands_${perSecond}`, commands, perEvent('redisCommands')),
      figure(`p50_${perSecond}_ms`, `from sending to arrival at ${rate}, median`, load => of(load).p50Ms, 'ms'),
      figure(`p99_${perSecond}_ms`, 'the same, 99 of 100 events', load => of(load).p99Ms, 'ms', p99Limit),
    ]
  }
  const perIdleSecond =
    (what: Count) =>
    ({ idle }: SmallLoad) =>
      idle[what] / idle.seconds
  const idleCpuPercent = ({ idle }: SmallLoad) => (sum(idle.cpuUs) / (idle.seconds * 1e6)) * 100
  return [
    ...atRate(10),
    ...atRate(100),
    figure('idle_cpu_percent', 'CPU while idle, of one core', idleCpuPercent, '%', limits.idleCpuPercent),
    figure('idle_transactions', 'PostgreSQL transactions while idle', perIdleSecond('transactions'), '/s'),
    ...ofRedis('idle_redis_commands', 'Redis commands while idle', perIdleSecond('redisCommands'), '/s'),
    figure('memory_mb', 'memory soon after the start', ({ memoryFresh }) => sum(memoryFresh), 'MB', limits.memoryMb),
    figure('memory_after_mb', 'memory after the load', ({ memoryAfter }) => sum(memoryAfter), 'MB'),
  ]
}

/** Divides the CPU of an event at 100 a second by that of another side. */
export function cpuRatioAt100(ours: readonly SmallLoad[], theirs: readonly SmallLoad[]) {
  const cpu = (loads: readonly SmallLoad[]) => loads.map(({ at100 }) => cpuPerEventUs(at100))
  return ratioOf(cpu(ours), cpu(theirs))
}

const maxBehindMs = 1_000

/** Notes that a side fell behind a rate in some round. It then works on a backlog, in fewer and larger steps. */
export function behindNotes({ title }: LightSide, loads: readonly SmallLoad[]): string[] {
  return ([10, 100] as const).flatMap(perSecond => {
    const rate = (load: SmallLoad) => (perSecond === 10 ? load.at10 : load.at100)
    const behindMs = loads.map(rate).map(({ seconds, events }) => (seconds - events / perSecond) * 1000)
    const maxMs = Math.max(...behindMs)
    if (maxMs <= maxBehindMs) return []
    const seconds = (maxMs / 1000).toFixed(1)
    return [
      `${title} fell ${seconds} s behind at ${perSecond} a second. Its figures at that rate are those of a backlog.`,
    ]
  })
}

function cpuPerEventUs({ cpuUs, events }: RateUsage): number {
  return sum(cpuUs) / events
}

function countPerEvent(what: Count, { events, seconds, ...used }: RateUsage, idle: Usage): number {
  return (used[what] - (idle[what] / idle.seconds) * seconds) / events
}

function sum(byGroup: Record<string, number>): number {
  return Object.values(byGroup).reduce((total, value) => total + value, 0)
}
