import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * Names a running process beyond its pid, which the system gives to another one some day; null when none has the pid.
 * The name holds until the machine is restarted and differs after it.
 */
export function processIdentity(pid: number): string | null {
  if (process.platform !== 'linux') return ps(pid, 'lstart=')
  const stat = readProc(`${pid}/stat`)
  // The program's name in the second field may hold spaces and brackets, so count from behind it. A zombie has ended.
  const [state, ...fields] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const startedAt = fields[18]
  if (!startedAt || state === 'Z' || state === 'X') return null
  return `${startedAt}@${readProc('sys/kernel/random/boot_id').trim()}`
}

/** Reads the command line of a running process; empty when there is none or it is hidden. */
export function commandLine(pid: number): string {
  if (process.platform !== 'linux') return ps(pid, 'command=') ?? ''
  return readProc(`${pid}/cmdline`).replaceAll('\0', ' ')
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
