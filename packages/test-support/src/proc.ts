import { readdirSync, readFileSync } from 'node:fs'

const tickUs = 10_000

/** Groups of processes by name. Each pid stands for its process and all of its descendants. */
export type ProcessGroups = Record<string, readonly number[]>

/** CPU microseconds, or megabytes, of each group. */
export type Reading = Record<string, number>

/**
 * Reads the CPU time of processes from the kernel, including threads, descendants and ended descendants. So all backends
 * of a PostgreSQL count. Linux only.
 */
export function readCpu(groups: ProcessGroups): Reading {
  return addUp(groups, ownCpuUs)
}

/**
 * Reads the memory of processes and their descendants as proportional set size (PSS): each process counts its share of a
 * page that several processes share, so the sum counts the page once. Linux only.
 */
export function readMemory(groups: ProcessGroups): Reading {
  return addUp(groups, pid => Number(/^Pss: +(\d+) kB$/m.exec(readProc(`${pid}/smaps_rollup`))?.[1] ?? 0) / 1024)
}

/** Returns what each group has used between two readings, divided by `count` operations. */
export function cpuPerOperation(before: Reading, after: Reading, count: number): Reading {
  return Object.fromEntries(Object.keys(after).map(name => [name, ((after[name] ?? 0) - (before[name] ?? 0)) / count]))
}

/** Returns the processes of `pids` and all their descendants. Linux only. */
export function withDescendants(pids: readonly number[]): number[] {
  return pids.flatMap(pid => [pid, ...withDescendants(childrenOf(pid))])
}

// Each thread lists the processes that it has started.
function childrenOf(pid: number): number[] {
  const lists = listProc(`${pid}/task`).map(tid => readProc(`${pid}/task/${tid}/children`))
  return lists.join(' ').split(' ').filter(Boolean).map(Number)
}

/** Reads the clock ticks of the ended children of a process from /proc/<pid>/stat. */
export function endedChildrenTicks(stat: string): number {
  // The program name in the second field may contain spaces and brackets, so fields are counted after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[13] ?? 0) + Number(fields[14] ?? 0)
}

/** Reads a file below /proc; empty when its process has ended. */
export function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
  } catch {
    return ''
  }
}

function listProc(path: string): string[] {
  try {
    return readdirSync(`/proc/${path}`)
  } catch {
    return []
  }
}

function addUp(groups: ProcessGroups, read: (pid: number) => number): Reading {
  const sum = (pids: readonly number[]) => withDescendants(pids).reduce((total, pid) => total + read(pid), 0)
  return Object.fromEntries(Object.entries(groups).map(([name, pids]) => [name, sum(pids)]))
}

// schedstat is exact. Of children that have ended only the count in clock ticks is left.
function ownCpuUs(pid: number): number {
  const threadsNs = listProc(`${pid}/task`).map(tid => Number(readProc(`${pid}/task/${tid}/schedstat`).split(' ')[0]))
  return threadsNs.reduce((total, ns) => total + ns / 1000, 0) + endedChildrenTicks(readProc(`${pid}/stat`)) * tickUs
}
