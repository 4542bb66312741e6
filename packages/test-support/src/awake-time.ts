const stepMs = 10

/**
 * Starts to count the time in which the event loop of this process turned, in steps of 10 ms. A pause counts as one step,
 * so an upper bound holds on a machine that has other work, while a wait of this process itself counts in full.
 */
export function startAwakeTime(): () => number {
  let steps = 0
  const timer = setInterval(() => steps++, stepMs)
  return () => {
    clearInterval(timer)
    return steps * stepMs
  }
}
