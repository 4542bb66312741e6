import { countInstants, nextOccurrence, type Occurrence } from './next-occurrence.ts'
import type { CronExpression } from './parse-cron.ts'

/** When a cron job fires: its expression read in its zone, from `startsAt` on and before `endsAt`. */
export type CronSchedule = { cron: CronExpression; timezone: string; startsAt: Date | null; endsAt: Date | null }

/** Finds the first occurrence of a schedule strictly after an instant. */
export function nextScheduled(schedule: CronSchedule, afterMs: number): Occurrence | null {
  const { cron, timezone, startsAt, endsAt } = schedule
  const from = startsAt === null ? afterMs : Math.max(afterMs, startsAt.getTime() - 1)
  const next = nextOccurrence(cron, timezone, from)
  return next !== null && (endsAt === null || next.atMs < endsAt.getTime()) ? next : null
}

/** Lists the next occurrences of a schedule strictly after an instant, at most `count`. */
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
 * Counts the occurrences of a schedule from an instant on and before another. Its time grows with the days in between, and
 * not with the occurrences.
 */
export function countOccurrences(schedule: CronSchedule, fromMs: number, toMs: number): number {
  const { cron, timezone, startsAt, endsAt } = schedule
  const firstMs = startsAt === null ? fromMs : Math.max(fromMs, startsAt.getTime())
  const endMs = endsAt === null ? toMs : Math.min(toMs, endsAt.getTime())
  return countInstants(cron, timezone, firstMs, endMs)
}
