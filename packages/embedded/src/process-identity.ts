import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

/**
 * Returns an identity of a running process, because the system reuses pids, or null if no process has the pid. The identity
 * is valid until the machine restarts.
 */
export function processIdentity(pid: number): string | null {
  if (process.platform === 'win32') return powershell(`(Get-Process -Id ${pid}).StartTime.ToFileTimeUtc()`)
  if (process.platform !== 'linux') return ps(pid, 'lstart=')
  const { state, startedAt } = readStat(pid)
  if (!startedAt || state === 'Z' || state === 'X') return null // not found, or ended
  return `${startedAt}@${readProc('sys/kernel/random/boot_id').trim()}`
}

/** Returns the parent of a process on Linux; null elsewhere, and when there is no such process. */
export function parentProcess(pid: number): number | null {
  return Number(readStat(pid).parent) || null
}

/** Returns the command line of a process. Empty if the process has ended or its command line is hidden. */
export function commandLine(pid: number): string {
  if (process.platform === 'win32')
    return (
      powershell(`(Get-CimInstance Win32_Process -Filter 'ProcessId = ${pid}').CommandLine`)?.replaceAll('"', '') ?? ''
    )
  if (process.platform !== 'linux') return ps(pid, 'command=') ?? ''
  return readProc(`${pid}/cmdline`).replaceAll('\0', ' ')
}

// The program's name in the second field can contain spaces and brackets, so the fields are counted after it.
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

function powershell(expression: string): string | null {
  const args = ['-NoProfile', '-NonInteractive', '-Command', expression]
  return spawnSync('powershell.exe', args, { encoding: 'utf8', windowsHide: true }).stdout?.trim() || null
}
