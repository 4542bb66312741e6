import { listProc, parseStat, readProc, withDescendants } from './proc.ts'

const tickUs = 10_000

/** Groups of processes by name; each pid stands for its process and all that descend from it. */
export type ProcessGroups = Record<string, readonly number[]>

/** CPU microseconds that each group has used since its processes began, as the kernel counts them. */
export type CpuReading = Record<string, number>

/**
 * Reads the CPU time of processes from the operating system, threads, descendants and ended descendants included, so
 * that all backends of a PostgreSQL count. Linux only.
 */
export function readCpu(groups: ProcessGroups): CpuReading {
  return Object.fromEntries(
    Object.entries(groups).map(([name, pids]) => [
      name,
      withDescendants(pids).reduce((total, pid) => total + ownCpuUs(pid), 0),
    ]),
  )
}

/** What each group has used between two readings, for one of `count` operations. */
export function cpuPerOperation(before: CpuReading, after: CpuReading, count: number): CpuReading {
  return Object.fromEntries(Object.keys(after).map(name => [name, ((after[name] ?? 0) - (before[name] ?? 0)) / count]))
}

// The scheduler's own count is exact; the one in clock ticks is all that is left of children that have ended.
function ownCpuUs(pid: number): number {
  const { endedChildrenTicks } = parseStat(readProc(`${pid}/stat`))
  const threadsNs = listProc(`${pid}/task`).map(tid => Number(readProc(`${pid}/task/${tid}/schedstat`).split(' ')[0]))
  return threadsNs.reduce((total, ns) => total + ns / 1000, 0) + (endedChildrenTicks || 0) * tickUs
}
