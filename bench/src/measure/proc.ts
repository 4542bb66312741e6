import { readdirSync, readFileSync } from 'node:fs'

/** Returns the processes of `pids` and all their descendants. Linux only. */
export function withDescendants(pids: readonly number[]): number[] {
  const children = childrenByParent()
  const family = (pid: number): number[] => [pid, ...(children.get(pid) ?? []).flatMap(family)]
  return pids.flatMap(family)
}

/** Reads the parent of a process and the clock ticks of its ended children from /proc/<pid>/stat. */
export function parseStat(stat: string): { parent: number; endedChildrenTicks: number } {
  // The program name in the second field may contain spaces and brackets, so fields are counted after it.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { parent: Number(fields[1]), endedChildrenTicks: Number(fields[13]) + Number(fields[14]) }
}

function childrenByParent(): Map<number, number[]> {
  const children = new Map<number, number[]>()
  for (const pid of listProc('.').filter(name => /^\d+$/.test(name))) {
    const { parent } = parseStat(readProc(`${pid}/stat`))
    children.set(parent, [...(children.get(parent) ?? []), Number(pid)])
  }
  return children
}

/** Lists a folder below /proc; empty when its process has ended. */
export function listProc(path: string): string[] {
  try {
    return readdirSync(`/proc/${path}`)
  } catch {
    return []
  }
}

/** Reads a file below /proc; empty when its process has ended. */
export function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
  } catch {
    return ''
  }
}
