import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * Names a running process beyond its pid, which the system gives to another one some day; null when none has the pid.
 * The name holds until the machine is restarted and differs after it.
 */
export function processIdentity(pid: number): string | null {
  if (process.platform !== 'linux') return ps(pid, 'lstart=')
  const { state, startedAt } = readStat(pid)
  if (!startedAt || state === 'Z' || state === 'X') return null // none, or one that has ended already
  return `${startedAt}@${readProc('sys/kernel/random/boot_id').trim()}`
}

/** Finds the parent of another process, on Linux; null elsewhere, and when there is no such process. */
export function parentProcess(pid: number): number | null {
  return Number(readStat(pid).parent) || null
}

/** Reads the command line of a running process; empty when there is none or it is hidden. */
export function commandLine(pid: number): string {
  if (process.platform !== 'linux') return ps(pid, 'command=') ?? ''
  return readProc(`${pid}/cmdline`).replaceAll('\0', ' ')
}

// The program's name in the second field may hold spaces and brackets, so the fields are counted from behind it.
function readStat(pid: number): { [name in 'state' | 'parent' | 'startedAt']: string | undefined } {
  const stat = readProc(`${pid}/stat`)
  const [state, parent, ...more] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return { state, parent, startedAt: more[17] }
}

function readProc(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8')
  } catch {
    return '' // no such process
  }
}

function ps(pid: number, column: string): string | null {
  return spawnSync('ps', ['-o', column, '-p', String(pid)], { encoding: 'utf8' }).stdout?.trim() || null
}
