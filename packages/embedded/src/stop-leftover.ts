import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { commandLine } from './process-identity.ts'

/**
 * Stops the server that a killed process left running on this data directory. Its command line must contain the directory,
 * because another program may have reused the pid.
 */
export async function stopLeftover(
  pidFile: string,
  dataDir: string,
  signals: readonly (readonly [NodeJS.Signals, number])[],
): Promise<void> {
  const pid = readPid(pidFile)
  const isThere = () => ` ${commandLine(pid)} `.includes(` ${dataDir} `)
  if (!pid || !isThere()) return
  for (const [signal, graceMs] of [...signals, ['SIGKILL', 5000] as const]) {
    try {
      process.kill(pid, signal)
    } catch {
      return // it has ended by itself
    }
    if (await waitUntil(() => !isThere(), graceMs)) return
  }
  throw new Error(`Process ${pid} still uses ${dataDir} and does not end. Stop it, then start again.`)
}

/** Returns the pid in the first line of a server's pid file, or 0 without a pid. */
export function readPid(pidFile: string): number {
  return Number.parseInt(readLines(pidFile)[0] ?? '', 10) || 0
}

/** Returns the lines of a file, or [] if it does not exist. */
export function readLines(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n')
  } catch {
    return [] // it does not exist
  }
}

/** Polls until a condition holds. Returns whether it did within the time. */
export async function waitUntil(condition: () => boolean | Promise<boolean>, timeoutMs: number, intervalMs = 20) {
  const giveUpAt = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() >= giveUpAt) return false
    await sleep(intervalMs)
  }
  return true
}
