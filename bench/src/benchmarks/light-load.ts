import type { Benchmark } from '../benchmark.ts'
import { interleave } from '../measure/interleave.ts'
import { type StartInstallation, smallBelfry, smallBullmq, smallPgBoss } from '../sides/small-installation.ts'
import { measureSmallLoad, type SmallLoad } from '../sides/small-load.ts'
import { behindNotes, cpuRatioAt100, figuresOfSide, type LightSide } from './light-load-figures.ts'

type Side = LightSide & { start: StartInstallation }

const limits = { p99At100Ms: { atMost: 8 }, idleCpuPercent: { atMost: 1.5 } }

// As docker-compose.yml starts them.
const services = ['api', 'scheduler', 'dispatcher', 'dispatcher'] as const

const belfry: Side[] = [
  {
    key: 'light_one_process',
    title: 'Belfry, one process without Redis',
    hasRedis: false,
    start: smallBelfry(['all-in-one'], { withRedis: false }),
    limits: { ...limits, memoryMb: { atMost: 300 } },
  },
  {
    key: 'light',
    title: 'Belfry, separate services with Redis',
    hasRedis: true,
    start: smallBelfry([...services], { withRedis: true }),
    limits: { ...limits, memoryMb: { atMost: 450 } },
  },
  {
    key: 'light_no_redis',
    title: 'Belfry, separate services without Redis',
    hasRedis: false,
    start: smallBelfry([...services], { withRedis: false }),
    limits,
  },
]

const pgBoss: Side = { key: 'light_pgboss', title: 'pg-boss', hasRedis: false, start: smallPgBoss() }
const bullmq: Side = { key: 'light_bullmq', title: 'BullMQ', hasRedis: true, start: smallBullmq() }
const sides = [...belfry, pgBoss, bullmq]

/** Measures what a small installation costs: idle, and at 10 and 100 events a second. */
export const lightLoad: Benchmark = {
  name: 'light-load',
  title: 'A small installation: idle, and at 10 and 100 events a second',
  async run(lab, { rounds, seconds }) {
    const measures = sides.map(({ key, start }) => [key, () => measureSmallLoad(lab, start, seconds)] as const)
    const loads: Record<string, SmallLoad[]> = await interleave(Object.fromEntries(measures), rounds)
    const of = ({ key }: Side) => loads[key] ?? []
    const ratios = belfry.map(side => ({
      key: `${side.key}_cpu_vs_pgboss_100`,
      title: `${side.title}: CPU of an event at 100 a second / that of pg-boss`,
      ...cpuRatioAt100(of(side), of(pgBoss)),
      limit: { atMost: 1 },
    }))
    return {
      rounds: loads,
      notes: [`Each rate was held for ${seconds} s.`, ...sides.flatMap(side => behindNotes(side, of(side)))],
      figures: [...ratios, ...sides.flatMap(side => figuresOfSide(side, of(side)))],
    }
  },
}
