const pids = new Set<number>()
let isArmed = false

/** Kills a child, even a frozen one, when this process exits in any way but SIGKILL, or its parent has died. */
export function endWithThisProcess(pid: number, ended: Promise<unknown>): void {
  pids.add(pid)
  if (!isArmed) arm()
  isArmed = true
  const forget = () => pids.delete(pid)
  ended.then(forget, forget)
}

function arm(): void {
  process.once('exit', killAll)
  // Vitest ends its workers with SIGTERM, which skips the event above. A killed Vitest only disconnects.
  process.once('SIGTERM', () => end('SIGTERM'))
  process.once('disconnect', () => end('SIGKILL'))
}

function end(signal: NodeJS.Signals): void {
  killAll()
  process.kill(process.pid, signal)
}

function killAll(): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL')
    } catch {
      // it has ended by itself
    }
  }
}
