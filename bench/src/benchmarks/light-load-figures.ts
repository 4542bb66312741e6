import { measured, ratioOf } from '../measure/statistics.ts'
import type { RateUsage, SmallLoad, Usage } from '../sides/small-load.ts'
import type { Figure, Limit } from './benchmark.ts'

/** How the figures of a side are named, and which of them it has. */
export type LightSide = {
  /** The first part of each key. */
  key: string
  title: string
  hasRedis: boolean
  limits?: Partial<Record<'p99At100Ms' | 'idleCpuPercent' | 'memoryMb', Limit>>
}

/** The figures of one side over all rounds. */
export function figuresOfSide({ key, title, hasRedis, limits = {} }: LightSide, loads: readonly SmallLoad[]): Figure[] {
  const figure = (
    name: string,
    what: string,
    of: (load: SmallLoad) => number,
    unit?: string,
    limit?: Limit,
  ): Figure => ({
    key: `${key}_${name}`,
    title: `${title}: ${what}`,
    ...measured(loads.map(of)),
    ...(unit ? { unit } : {}),
    ...(limit ? { limit } : {}),
  })
  const atRate = (perSecond: 10 | 100, of: (load: SmallLoad) => RateUsage): Figure[] => {
    const rate = `${perSecond} a second`
    const beyondIdle = (what: 'transactions' | 'redisCommands') => (load: SmallLoad) =>
      perEvent(what, of(load), load.idle)
    const p99Limit = perSecond === 100 ? limits.p99At100Ms : undefined
    return [
      figure(`cpu_us_${perSecond}`, `CPU of an event at ${rate}, all processes`, load => cpuPerEventUs(of(load)), 'us'),
      figure(
        `transactions_${perSecond}`,
        `PostgreSQL transactions of an event at ${rate}, less those of an idle installation`,
        beyondIdle('transactions'),
      ),
      ...(hasRedis
        ? [
            figure(
              `redis_commands_${perSecond}`,
              `Redis commands of an event at ${rate}, likewise`,
              beyondIdle('redisCommands'),
            ),
          ]
        : []),
      figure(`p50_${perSecond}_ms`, `from sending to arrival at ${rate}, median`, load => of(load).p50Ms, 'ms'),
      figure(`p99_${perSecond}_ms`, 'the same, 99 of 100 events', load => of(load).p99Ms, 'ms', p99Limit),
    ]
  }
  return [
    ...atRate(10, ({ at10 }) => at10),
    ...atRate(100, ({ at100 }) => at100),
    figure('idle_cpu_percent', 'CPU while idle, of one core', idleCpuPercent, '%', limits.idleCpuPercent),
    figure('idle_transactions', 'PostgreSQL transactions while idle', perIdleSecond('transactions'), '/s'),
    ...(hasRedis
      ? [figure('idle_redis_commands', 'Redis commands while idle', perIdleSecond('redisCommands'), '/s')]
      : []),
    figure('memory_mb', 'memory soon after the start', ({ memoryFresh }) => sum(memoryFresh), 'MB', limits.memoryMb),
    figure('memory_after_mb', 'memory after the load', ({ memoryAfter }) => sum(memoryAfter), 'MB'),
  ]
}

/** The CPU of an event at 100 a second, of one side as a share of the other's. */
export function cpuRatioAt100(ours: readonly SmallLoad[], theirs: readonly SmallLoad[]) {
  const cpu = (loads: readonly SmallLoad[]) => loads.map(({ at100 }) => cpuPerEventUs(at100))
  return ratioOf(cpu(ours), cpu(theirs))
}

/** Notes that a side fell behind a rate in some round. It then works on a backlog, in fewer and larger steps. */
export function behindNotes({ title }: LightSide, loads: readonly SmallLoad[]): string[] {
  const rates = [10, 100] as const
  return rates.flatMap(perSecond => {
    const longest = Math.max(...loads.map(load => behindMs(load, perSecond)))
    if (longest <= maxBehindMs) return []
    const seconds = (longest / 1000).toFixed(1)
    return [
      `${title} fell ${seconds} s behind at ${perSecond} a second. Its figures at that rate are those of a backlog.`,
    ]
  })
}

const maxBehindMs = 1_000

function behindMs({ at10, at100 }: SmallLoad, perSecond: 10 | 100): number {
  const { seconds, events } = perSecond === 10 ? at10 : at100
  return (seconds - events / perSecond) * 1000
}

function cpuPerEventUs({ cpuUs, events }: RateUsage): number {
  return sum(cpuUs) / events
}

function perEvent(
  what: 'transactions' | 'redisCommands',
  { events, seconds, ...used }: RateUsage,
  idle: Usage,
): number {
  return (used[what] - (idle[what] / idle.seconds) * seconds) / events
}

function idleCpuPercent({ idle: { cpuUs, seconds } }: SmallLoad): number {
  return (sum(cpuUs) / (seconds * 1e6)) * 100
}

function perIdleSecond(what: 'transactions' | 'redisCommands'): (load: SmallLoad) => number {
  return ({ idle }) => idle[what] / idle.seconds
}

function sum(byGroup: Record<string, number>): number {
  return Object.values(byGroup).reduce((total, value) => total + value, 0)
}
