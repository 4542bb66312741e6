import { type SpawnOptions, spawn } from 'node:child_process'
import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

export type ServerProcess = Awaited<ReturnType<typeof spawnServer>>

/**
 * Starts a server in its own process group, so Ctrl-C in a terminal does not end it before its clients. It writes to a file,
 * because a broken pipe would end the server when this process is killed.
 */
export async function spawnServer(
  [program = '', ...args]: readonly string[],
  logFile: string,
  ids: Pick<SpawnOptions, 'uid' | 'gid'> = {},
) {
  const log = openSync(logFile, 'a', 0o600)
  const logStart = fstatSync(log).size
  const child = spawn(program, args, { ...ids, detached: true, windowsHide: true, stdio: ['ignore', log, log] })
  closeSync(log)
  await new Promise((resolve, reject) => child.once('spawn', resolve).once('error', reject))
  const exited = new Promise<void>(resolve => child.once('exit', () => resolve()))
  const isRunning = () => child.exitCode === null && child.signalCode === null
  return {
    pid: child.pid ?? 0, // spawned, so it has one
    /** Settles when the process has ended for any reason. */
    exited,
    isRunning,
    /** Returns its output since its start. */
    output: (): string => readFileSync(logFile).subarray(logStart).toString(),
    kill: (signal: NodeJS.Signals): void => void child.kill(signal),
    /** Stops it: sends each signal and waits for its time, and sends SIGKILL in the end. */
    async stop(signals: readonly (readonly [NodeJS.Signals, number])[]): Promise<void> {
      for (const [signal, graceMs] of signals) {
        if (!isRunning()) return
        child.kill(signal)
        await Promise.race([exited, sleep(graceMs, undefined, { ref: false })])
      }
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** Returns the end of a server's output, for an error message. */
export function lastLines(output: string): string {
  return output.trimEnd().split('\n').slice(-8).join('\n')
}
