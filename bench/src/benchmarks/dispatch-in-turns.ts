import type { Lab } from '../lab/lab.ts'
import { ratioOf } from '../measure/statistics.ts'
import { rates, type Sample, totalCpuUs, withCpu } from '../measure/window.ts'
import { belfryInTurns, floorInTurns } from '../sides/in-turns.ts'
import { takeTurns } from '../sides/take-turns.ts'
import type { Figure } from './benchmark.ts'

const countAtOnce = 15_000

type Round = { promoted: Sample; floor: Sample }

/**
 * Belfry against the floor for so many minutes, once both are warm: they have calls to make at the same time, and each is
 * stopped for a moment while the other makes some of its own.
 */
export async function dispatchInTurns(
  lab: Lab,
  concurrency: number,
  minutes: number,
): Promise<{ figures: Figure[]; rounds: Round[] }> {
  const promoted = await belfryInTurns(lab, concurrency)
  const target = await lab.startTarget()
  const floor = await floorInTurns(lab, target, concurrency)
  const rounds: Round[] = []
  try {
    const endsAt = performance.now() + minutes * 60_000
    for (let isWarm = false; performance.now() < endsAt; isWarm = true) {
      await floor.fill(countAtOnce)
      const promoting = await promoted.fill(countAtOnce)
      const samples = await takeTurns([promoted, floor], countAtOnce)
      if (isWarm && samples) rounds.push({ promoted: withCpu(samples[0], promoting), floor: samples[1] })
      await promoted.finish(countAtOnce)
      await floor.finish(countAtOnce)
    }
  } finally {
    await floor.close()
    await promoted.close()
    await target.stop()
  }
  return { rounds, figures: figuresOf(rounds, `in turns, both warm, ${concurrency} at once`, concurrency) }
}

function figuresOf(rounds: readonly Round[], how: string, concurrency: number): Figure[] {
  const [ours, theirs] = [rounds.map(({ promoted }) => promoted), rounds.map(({ floor }) => floor)]
  return [
    {
      key: `dispatch_in_turns_vs_floor_${concurrency}`,
      title: `durable dispatches a second / BullMQ + undici that stores nothing, ${how}`,
      ...ratioOf(rates(ours), rates(theirs)),
    },
    {
      key: `dispatch_in_turns_cpu_vs_floor_${concurrency}`,
      title: `CPU of a dispatch over node, PostgreSQL and Redis / the floor's, ${how}`,
      ...ratioOf(ours.map(totalCpuUs), theirs.map(totalCpuUs)),
    },
  ]
}
