import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Logger } from './logger.ts'

const periodMs = 5_000
const alarmMs = 1_000

/** Warns when the event loop was blocked for more than a second: leases and locks are renewed on it. */
export function watchEventLoop(log: Logger): () => void {
  const delay = monitorEventLoopDelay({ resolution: 50 })
  delay.enable()
  const timer = setInterval(() => {
    const blockedMs = Math.round(delay.max / 1e6)
    if (blockedMs > alarmMs) log.warn({ blockedMs }, 'event_loop.blocked')
    delay.reset()
  }, periodMs)
  timer.unref()
  return () => {
    clearInterval(timer)
    delay.disable()
  }
}
