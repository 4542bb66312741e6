/** Wakes a loop that has work to do. */
export type Waker = ReturnType<typeof createWaker>

export function createWaker() {
  let isWoken = false
  let end = () => {}
  return {
    wake(): void {
      isWoken = true
      end()
    },
    /** Waits for `wake`, for `ms`, or for the signal's abort. Returns whether it was woken since the last pause. */
    async pause(ms: number, signal: AbortSignal): Promise<boolean> {
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
