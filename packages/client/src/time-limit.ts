// A longer timer would fire at once.
const maxTimerMs = 2 ** 31 - 1

/** Aborts a request after a time limit or with the caller's signal, because Node 18 has no `AbortSignal.any`. */
export function startTimeLimit(timeoutMs: number, outer: AbortSignal | undefined) {
  const controller = new AbortController()
  let isOver = false
  const end = () => {
    isOver = true
    controller.abort()
  }
  const timer = timeoutMs <= maxTimerMs ? setTimeout(end, timeoutMs) : undefined
  const abort = () => controller.abort(outer?.reason)
  if (outer?.aborted) abort()
  outer?.addEventListener('abort', abort, { once: true })
  return {
    signal: controller.signal,
    isOver: () => isOver,
    /** Removes the time limit. The caller's signal still applies. */
    lift: () => clearTimeout(timer),
    /** Aborts the request if it is not complete, and removes the timer and the listener on the caller's signal. */
    clear() {
      clearTimeout(timer)
      outer?.removeEventListener('abort', abort)
      controller.abort()
    },
  }
}

/** Waits, and rejects when the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const giveUp = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', giveUp)
      resolve()
    }, ms)
    signal?.addEventListener('abort', giveUp, { once: true })
  })
}
