import { countInstants, nextOccurrence, type Occurrence } from './next-occurrence.ts'
import type { CronExpression } from './parse-cron.ts'

/** The schedule of a cron job: its expression in its time zone, from `startsAt` until before `endsAt`. */
export type CronSchedule = { cron: CronExpression; timezone: string; startsAt: Date | null; endsAt: Date | null }

/** Returns the first occurrence of a schedule strictly after an instant. */
export function nextScheduled(schedule: CronSchedule, afterMs: number): Occurrence | null {
  const { cron, timezone, startsAt, endsAt } = schedule
  const from = startsAt === null ? afterMs : Math.max(afterMs, startsAt.getTime() - 1)
  const next = nextOccurrence(cron, timezone, from)
  return next !== null && (endsAt === null || next.atMs < endsAt.getTime()) ? next : null
}

/** Returns up to `count` occurrences of a schedule strictly after an instant. */
export function nextRuns(schedule: CronSchedule, afterMs: number, count: number): Occurrence[] {
  const runs: Occurrence[] = []
  let next = nextScheduled(schedule, afterMs)
  while (next !== null && runs.length < count) {
    runs.push(next)
    next = runs.length < count ? nextScheduled(schedule, next.atMs) : null
  }
  return runs
}

/**
 * Counts the occurrences of a schedule from `fromMs` until before `toMs`. The time it takes depends on the number of days,
 * not of occurrences.
 */
export function countOccurrences(schedule: CronSchedule, fromMs: number, toMs: number): number {
  const { cron, timezone, startsAt, endsAt } = schedule
  const firstMs = startsAt === null ? fromMs : Math.max(fromMs, startsAt.getTime())
  const endMs = endsAt === null ? toMs : Math.min(toMs, endsAt.getTime())
  return countInstants(cron, timezone, firstMs, endMs)
}
