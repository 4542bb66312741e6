import { type CronSchedule, nextScheduled } from './cron-schedule.ts'

/** Which occurrences run that were missed while nothing ran: the latest, all (the last 100), or none. */
export const catchUps = ['latest', 'all', 'none'] as const

export type CatchUp = (typeof catchUps)[number]

/** Whether an occurrence starts while an earlier one is unfinished. */
export const overlaps = ['allow', 'skip'] as const

export type Overlap = (typeof overlaps)[number]

export type OccurrencePlan = {
  occurrences: Array<{ at: Date; missed: boolean }>
  /** The first occurrence after the plan, or null at the end of the schedule. */
  next: Date | null
}

/** An occurrence that could not start until this long after its time is missed. */
export const lateMs = 10_000

/** How many missed occurrences of a cron job run, the latest ones. */
export const caughtUpOn: Readonly<Record<CatchUp, number>> = { latest: 1, all: 100, none: 0 }

/** Returns how many of the unplanned occurrences before a time will run. `planOccurrences` marks the others as missed. */
export function countCaughtUp(schedule: CronSchedule, catchUp: CatchUp, next: Date, before: Date): number {
  let count = 0
  for (
    let at: number | null = next.getTime();
    at !== null && at < before.getTime() && count < caughtUpOn[catchUp];
    at = nextScheduled(schedule, at)?.atMs ?? null
  )
    count++
  return count
}

const maxPerPlan = 1000

/**
 * Plans the occurrences of a cron job from `next`, the first unplanned one, up to `until`. Each is computed from the previous
 * one, never from the clock, so every one is planned exactly once. After a long outage it takes several plans to reach the
 * present. Normally an occurrence is planned minutes ahead; it is missed when it is planned too late.
 * @param delayMs - How long after its time an occurrence is due. Default: 0.
 * @param max - Plans at most this many. Default: as many as one plan may have.
 */
export function planOccurrences(
  schedule: CronSchedule,
  catchUp: CatchUp,
  {
    next,
    now,
    until,
    delayMs = 0,
    max = maxPerPlan,
  }: { next: Date; now: Date; until: Date; delayMs?: number; max?: number },
): OccurrencePlan {
  const times: number[] = []
  let at: number | null = next.getTime()
  while (at !== null && at <= until.getTime() && times.length < maxPerPlan) {
    times.push(at)
    at = nextScheduled(schedule, at)?.atMs ?? null
  }
  const lateBefore = now.getTime() - lateMs - delayMs
  const late = times.filter(time => time < lateBefore).length
  const missed = Math.max(0, late - caughtUpOn[catchUp])
  // While more late occurrences follow, the latest of them are unknown.
  const hasMoreLate = at !== null && at < lateBefore
  const planned = times.slice(0, hasMoreLate ? Math.min(missed, max) : max)
  const rest = times[planned.length] ?? at
  return {
    occurrences: planned.map((time, i) => ({ at: new Date(time), missed: i < missed })),
    next: rest === null ? null : new Date(rest),
  }
}
