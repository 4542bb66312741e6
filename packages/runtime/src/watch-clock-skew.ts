import type { Logger } from './logger.ts'
import type { Meter } from './metrics/open-meter.ts'

const warnFromMs = 200

/**
 * Exports how far the database's clock is ahead of this machine's, as `belfry_clock_skew_seconds`.
 * @returns A function that logs a warning when the skew exceeds 0.2 s. Call it after each measurement.
 */
export function watchClockSkew(clock: { now(): number }, meter: Meter, log: Logger): () => void {
  const skewMs = () => clock.now() - Date.now()
  meter.gauge(
    'belfry_clock_skew_seconds',
    "How far the database's clock is ahead of this machine's.",
    () => skewMs() / 1000,
  )
  return () => {
    const measured = Math.round(skewMs())
    if (Math.abs(measured) > warnFromMs) log.warn({ skewMs: measured }, 'clock.skewed')
  }
}
