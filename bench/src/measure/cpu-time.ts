import { readdirSync, readFileSync } from 'node:fs'

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
  const children = childrenByParent()
  const sum = (pid: number): number =>
    ownCpuUs(pid) + (children.get(pid) ?? []).reduce((total, child) => total + sum(child), 0)
  return Object.fromEntries(
    Object.entries(groups).map(([name, pids]) => [name, pids.reduce((total, pid) => total + sum(pid), 0)]),
  )
}

/** What each group has used between two readings, for one of `count` operations. */
export function cpuPerOperation(before: CpuReading, after: CpuReading, count: number): CpuReading {
  return Object.fromEntries(Object.keys(after).map(name => [name, ((after[name] ?? 0) - (before[name] ?? 0)) / count]))
}

/** The parent of a process, and the time of its ended and awaited children in clock ticks, from /proc/<pid>/stat. */
export function parseStat(stat: string): { parent: number; endedChildrenTicks: number } {
  // The program's name in the second field may hold spaces and brackets, so the fields are counted from behind it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { parent: Number(fields[1]), endedChildrenTicks: Number(fields[13]) + Number(fields[14]) }
}

// The scheduler's own count is exact; the one in clock ticks is all that is left of children that have ended.
function ownCpuUs(pid: number): number {
  const { endedChildrenTicks } = parseStat(readProc(`${pid}/stat`))
  const threadsNs = list(`${pid}/task`).map(tid => Number(readProc(`${pid}/task/${tid}/schedstat`).split(' ')[0]))
  return threadsNs.reduce((total, ns) => total + ns / 1000, 0) + (endedChildrenTicks || 0) * tickUs
}

function childrenByParent(): Map<number, number[]> {
  const children = new Map<number, number[]>()
  for (const pid of list('.').filter(name => /^\d+$/.test(name))) {
    const { parent } = parseStat(readProc(`${pid}/stat`))
    children.set(parent, [...(children.get(parent) ?? []), Number(pid)])
  }
  return children
}

function list(path: string): string[] {
  try {
    return readdirSync(`/proc/${path}`)
  } catch {
    return [] // the process has ended
  }
}

function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
  } catch {
    return '' // the process has ended
  }
}
