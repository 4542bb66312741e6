import { AppError } from '@belfry/domain'

/**
 * Lets at most `most` pieces of work run at a time and at most `mostWaiting` wait for that, in their order.
 * @throws AppError `rate_limited` for one more than may wait.
 */
export function limitParallel({ most, mostWaiting }: { most: number; mostWaiting: number }) {
  const waiting: Array<() => void> = []
  let running = 0
  return async <T>(work: () => Promise<T>): Promise<T> => {
    if (running >= most) {
      if (waiting.length >= mostWaiting) {
        throw new AppError('rate_limited', 'Too many people sign in at once. Try again in a moment.', {
          retryAfterMs: 1000,
        })
      }
      await new Promise<void>(resolve => waiting.push(resolve))
    } else {
      running++
    }
    try {
      return await work()
    } finally {
      // Whoever waits takes this one's place, so `running` stays.
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
