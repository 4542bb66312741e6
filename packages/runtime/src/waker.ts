/** Wakes a loop that has work to do. */
export type Waker = {
  wake(): void
  /** Waits for `wake`, for `ms`, or for the signal's abort. Returns whether it was woken since the last pause. */
  pause(ms: number, signal: AbortSignal): Promise<boolean>
}

export function createWaker(): Waker {
  let isWoken = false
  let end = () => {}
  return {
    wake() {
      isWoken = true
      end()
    },
    async pause(ms, signal) {
      if (ms > 0 && !isWoken && !signal.aborted) {
        let timer: NodeJS.Timeout | undefined
        await new Promise<void>(resolve => {
          end = resolve
          timer = setTimeout(resolve, ms)
          signal.addEventListener('abort', end)
        })
        clearTimeout(timer)
        signal.removeEventListener('abort', end)
      }
      const wasWoken = isWoken
      isWoken = false
      return wasWoken
    },
  }
}
