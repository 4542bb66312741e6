import type { ProcessGroups } from './cpu-time.ts'
import { readProc, withDescendants } from './proc.ts'

/** Megabytes of memory of each group of processes. */
export type MemoryReading = Record<string, number>

/**
 * Reads the memory of processes and their descendants as proportional set size (PSS): each process counts its share of a
 * page that several processes share, so the sum counts the page once. Linux only.
 */
export function readMemory(groups: ProcessGroups): MemoryReading {
  const used = (pids: readonly number[]) =>
    withDescendants(pids).reduce((total, pid) => total + parsePss(readProc(`${pid}/smaps_rollup`)), 0)
  return Object.fromEntries(Object.entries(groups).map(([name, pids]) => [name, used(pids)]))
}

/** Reads the proportional set size in megabytes from /proc/<pid>/smaps_rollup; 0 for a process that has ended. */
export function parsePss(rollup: string): number {
  return Number(/^Pss: +(\d+) kB$/m.exec(rollup)?.[1] ?? 0) / 1024
}
