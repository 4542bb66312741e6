import { setTimeout as sleep } from 'node:timers/promises'
import { goOn, stop } from '../lab/stop-and-go.ts'
import { type CpuReading, cpuPerOperation, readCpu } from '../measure/cpu-time.ts'
import { readTicks, stolenShare } from '../measure/stolen-time.ts'
import type { Sample } from '../measure/window.ts'
import type { SideInTurns } from './in-turns.ts'

// Long enough for several statements of hundreds of tasks, and short enough for the machine not to change.
const sliceMs = 220
const settlingMs = 40
const quietMs = 25
const mostStolen = 0.03
const lastShare = 0.96
const mostTurns = 200

type Slice = { calls: number; ms: number; cpu: CpuReading }

/**
 * Lets two sides run one at a time, each for a moment, until one of them has made nearly all of its calls, and tells what
 * each did in its moments. Who comes first changes each time. Two moments from which the hypervisor took too much do not
 * count; null when none do.
 */
export async function takeTurns(
  [one, other]: [SideInTurns, SideInTurns],
  count: number,
): Promise<[Sample, Sample] | null> {
  const slices: Array<[Slice, Slice]> = []
  for (let turn = 0; turn < mostTurns; turn++) {
    const isSwapped = turn % 2 === 1
    const first = await runSlice(isSwapped ? other : one)
    const second = await runSlice(isSwapped ? one : other)
    if (Math.max(first.reached, second.reached) > count * lastShare) break
    if (Math.max(first.stolen, second.stolen) <= mostStolen) slices.push(isSwapped ? [second, first] : [first, second])
  }
  return slices.length === 0
    ? null
    : [toSample(slices.map(([slice]) => slice)), toSample(slices.map(([, slice]) => slice))]
}

async function runSlice(side: SideInTurns): Promise<Slice & { reached: number; stolen: number }> {
  goOn(side.pids)
  await sleep(settlingMs)
  const ticks = readTicks()
  const begin = await read(side)
  await sleep(sliceMs)
  const end = await read(side)
  const stolen = stolenShare(ticks, readTicks())
  stop(side.pids)
  await sleep(quietMs) // what a database is still busy with belongs to this side
  return {
    calls: end.count - begin.count,
    ms: end.at - begin.at,
    cpu: cpuPerOperation(begin.cpu, end.cpu, 1), // of all the calls
    reached: end.count,
    stolen,
  }
}

async function read({ counter, groups }: SideInTurns) {
  const { count } = await counter.collect()
  return { count, at: performance.now(), cpu: readCpu(groups) }
}

function toSample(slices: readonly Slice[]): Sample {
  const sum = (of: (slice: Slice) => number) => slices.reduce((total, slice) => total + of(slice), 0)
  const calls = sum(slice => slice.calls)
  const groups = Object.keys(slices[0]?.cpu ?? {})
  return {
    perSecond: (calls / sum(slice => slice.ms)) * 1000,
    cpuUs: Object.fromEntries(groups.map(group => [group, sum(slice => slice.cpu[group] ?? 0) / calls])),
  }
}
