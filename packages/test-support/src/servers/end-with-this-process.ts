const pids = new Set<number>()
let isArmed = false

/** Kills a child, even a frozen one, when this process exits in any way. */
export function endWithThisProcess(pid: number): { forget(): void } {
  pids.add(pid)
  if (!isArmed) process.once('exit', killAll)
  isArmed = true
  return { forget: () => void pids.delete(pid) }
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
