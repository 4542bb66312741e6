/** A fixed number of places. Whoever finds none free waits in line. */
export type Slots = {
  /** Resolves with the function that gives the place back; rejects when the signal is aborted first. */
  acquire(signal: AbortSignal): Promise<() => void>
  readonly taken: number
}

export function createSlots(count: number): Slots {
  let free = count
  const line = new Set<() => void>()

  function giveBack(): void {
    free++
    const next = line.values().next()
    if (!next.done) {
      line.delete(next.value)
      next.value()
    }
  }

  function take(): () => void {
    free--
    let held = true
    return () => {
      if (held) giveBack()
      held = false
    }
  }

  return {
    get taken() {
      return count - free
    },
    async acquire(signal) {
      signal.throwIfAborted()
      if (free > 0) return take()
      return new Promise((resolve, reject) => {
        const proceed = () => {
          signal.removeEventListener('abort', giveUp)
          resolve(take())
        }
        const giveUp = () => {
          line.delete(proceed)
          reject(signal.reason)
        }
        line.add(proceed)
        signal.addEventListener('abort', giveUp, { once: true })
      })
    },
  }
}
