import type { Logger } from './logger.ts'

const sampleMs = 500
const alarmMs = 1_000

/** Logs a warning when the event loop was blocked for more than a second: heartbeats and lock renewals are then late. */
export function watchEventLoop(log: Logger): () => void {
  return sampleEventLoopDelay(delayMs => {
    if (delayMs > alarmMs) log.warn({ blockedMs: Math.round(delayMs) }, 'event_loop.blocked')
  })
}

/**
 * Reports every half second how late a timer fired, in milliseconds: the event loop was blocked for that long, or up to half
 * a second longer. Node's own monitor detects shorter blocks, but wakes an idle process up to a hundred times a second.
 * @returns A function that stops the reports.
 */
export function sampleEventLoopDelay(onSample: (delayMs: number) => void): () => void {
  listeners.add(onSample)
  timer ??= startSampling()
  return () => {
    listeners.delete(onSample)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

// One timer per process.
const listeners = new Set<(delayMs: number) => void>()
let timer: NodeJS.Timeout | undefined

function startSampling(): NodeJS.Timeout {
  let latest = performance.now()
  const sample = () => {
    const now = performance.now()
    for (const onSample of listeners) onSample(Math.max(0, now - latest - sampleMs))
    latest = now
  }
  return setInterval(sample, sampleMs).unref()
}
