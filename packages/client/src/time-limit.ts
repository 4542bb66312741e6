// A timer that is longer would go off at once.
const longestTimer = 2 ** 31 - 1

/** Ends a call that takes too long, or whose caller has lost interest: `AbortSignal.any` is too young for Node 18. */
export function startTimeLimit(timeoutMs: number, outer: AbortSignal | undefined) {
  const controller = new AbortController()
  let isOver = false
  const end = () => {
    isOver = true
    controller.abort()
  }
  const timer = timeoutMs <= longestTimer ? setTimeout(end, timeoutMs) : undefined
  const abort = () => controller.abort(outer?.reason)
  if (outer?.aborted) abort()
  outer?.addEventListener('abort', abort, { once: true })
  return {
    signal: controller.signal,
    isOver: () => isOver,
    /** From here on the call may take as long as it likes, but its caller may still end it. */
    lift: () => clearTimeout(timer),
    clear() {
      clearTimeout(timer)
      outer?.removeEventListener('abort', abort)
    },
  }
}

/** Waits, unless the caller loses interest. */
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
