import { listProc, parseStat, readProc, withDescendants } from './proc.ts'

const tickUs = 10_000

/** Groups of processes by name. Each pid stands for its process and all of its descendants. */
export type ProcessGroups = Record<string, readonly number[]>

/** CPU microseconds that each group has used since its processes started. */
export type CpuReading = Record<string, number>

/**
 * Reads the CPU time of processes from the kernel, including threads, descendants and ended descendants. So all backends
 * of a PostgreSQL count. Linux only.
 */
export function readCpu(groups: ProcessGroups): CpuReading {
  const used = (pids: readonly number[]) => withDescendants(pids).reduce((total, pid) => total + ownCpuUs(pid), 0)
  return Object.fromEntries(Object.entries(groups).map(([name, pids]) => [name, used(pids)]))
}

/** Returns what each group has used between two readings, divided by `count` operations. */
export function cpuPerOperation(before: CpuReading, after: CpuReading, count: number): CpuReading {
  return Object.fromEntries(Object.keys(after).map(name => [name, ((after[name] ?? 0) - (before[name] ?? 0)) / count]))
}

// schedstat is exact. Of children that have ended only the count in clock ticks is left.
function ownCpuUs(pid: number): number {
  const { endedChildrenTicks } = parseStat(readProc(`${pid}/stat`))
  const threadsNs = listProc(`${pid}/task`).map(tid => Number(readProc(`${pid}/task/${tid}/schedstat`).split(' ')[0]))
  return threadsNs.reduce((total, ns) => total + ns / 1000, 0) + (endedChildrenTicks || 0) * tickUs
}
