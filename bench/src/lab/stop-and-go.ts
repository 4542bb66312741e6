const stopped = new Set<number>()
process.once('exit', () => goOn([...stopped])) // so that they see that this one has ended, and end as well

/** Stops processes where they are; their connections stay open. */
export function stop(pids: readonly number[]): void {
  for (const pid of pids) {
    stopped.add(pid)
    signal(pid, 'SIGSTOP')
  }
}

/** Lets processes that are stopped go on. */
export function goOn(pids: readonly number[]): void {
  for (const pid of pids) {
    stopped.delete(pid)
    signal(pid, 'SIGCONT')
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch {
    // it has ended
  }
}
