import type { ProcessGroups } from './cpu-time.ts'
import { readProc, withDescendants } from './proc.ts'

/** Megabytes of memory of each group of processes. */
export type MemoryReading = Record<string, number>

/**
 * Reads the memory of processes and their descendants as their proportional set size (PSS): a page that several processes
 * share counts in each of them by its share, so the sum counts it once. Linux only.
 */
export function readMemory(groups: ProcessGroups): MemoryReading {
  return Object.fromEntries(
    Object.entries(groups).map(([name, pids]) => [
      name,
      withDescendants(pids).reduce((total, pid) => total + parsePss(readProc(`${pid}/smaps_rollup`)), 0),
    ]),
  )
}

/** The proportional set size in megabytes, from /proc/<pid>/smaps_rollup; 0 for a process that has ended. */
export function parsePss(rollup: string): number {
  return Number(/^Pss: +(\d+) kB$/m.exec(rollup)?.[1] ?? 0) / 1024
}
