import type { Counter } from '../lab/counter.ts'
import { type CpuReading, cpuPerOperation, type ProcessGroups, readCpu } from './cpu-time.ts'

/** What one round of one side has shown. */
export type Sample = {
  perSecond: number
  /** CPU microseconds of each group of processes for one operation. */
  cpuUs: CpuReading
}

/** The share of operations that come first, uncounted: they warm the processes up. */
export const warmUpShare = 0.2
// The last calls are fewer at once.
const window = { from: warmUpShare, to: 0.985 }

/** Watches a counter on its way to `count`: the rate between a fifth and nearly all, and the CPU time of that part. */
export async function measureWindow(counter: Counter, count: number, groups: ProcessGroups): Promise<Sample> {
  const [from, to] = [Math.round(count * window.from), Math.round(count * window.to)]
  const reading = async (reached: number) => {
    const { at } = await counter.reached(reached)
    return { at, cpu: readCpu(groups) }
  }
  const [begin, end] = await Promise.all([reading(from), reading(to)])
  return {
    perSecond: ((to - from) / (end.at - begin.at)) * 1000,
    cpuUs: cpuPerOperation(begin.cpu, end.cpu, to - from),
  }
}

/** The CPU of an operation over the processes that do it; what stands for the outside does not count. */
export function totalCpuUs({ cpuUs }: Sample): number {
  return Object.entries(cpuUs).reduce((total, [group, us]) => (group === 'outside' ? total : total + us), 0)
}

/** A sample that also counts what was done for each operation before its window. */
export function withCpu(sample: Sample, more: CpuReading): Sample {
  const added = Object.entries(sample.cpuUs).map(([group, us]) => [group, us + (more[group] ?? 0)] as const)
  return { ...sample, cpuUs: Object.fromEntries(added) }
}

export function rates(samples: readonly Sample[]): number[] {
  return samples.map(({ perSecond }) => perSecond)
}
