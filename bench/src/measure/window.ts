import { cpuPerOperation, type ProcessGroups, type Reading, readCpu } from '@belfry/test-support/proc'
import type { Counter } from '../lab/counter.ts'

/** What one round of one side has shown. */
export type Sample = {
  perSecond: number
  /** CPU microseconds of each group of processes for one operation. */
  cpuUs: Reading
}

/** The share of operations at the start that does not count: it warms the processes up. */
export const warmUpShare = 0.2
// At the end fewer calls run in parallel.
const endShare = 0.985

/** Watches a counter on its way to `count`. Returns the rate and the CPU time between a fifth and nearly all. */
export async function measureWindow(counter: Counter, count: number, groups: ProcessGroups): Promise<Sample> {
  const [from, to] = [Math.round(count * warmUpShare), Math.round(count * endShare)]
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

/** Returns the CPU of an operation over the processes that do it; the `outside` group does not count. */
export function totalCpuUs({ cpuUs }: Sample): number {
  return Object.entries(cpuUs).reduce((total, [group, us]) => (group === 'outside' ? total : total + us), 0)
}

export function rates(samples: readonly Sample[]): number[] {
  return samples.map(({ perSecond }) => perSecond)
}
