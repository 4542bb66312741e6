import { type CronSchedule, nextScheduled } from './cron-schedule.ts'

/** What happens to occurrences whose time passed while nothing ran: the latest runs, all run (the last 100), or none. */
export const catchUps = ['latest', 'all', 'none'] as const

export type CatchUp = (typeof catchUps)[number]

/** Whether an occurrence starts while an earlier one has not finished. */
export const overlaps = ['allow', 'skip'] as const

export type Overlap = (typeof overlaps)[number]

export type PlannedOccurrence = { at: Date; missed: boolean }

export type OccurrencePlan = {
  occurrences: PlannedOccurrence[]
  /** The first occurrence that is not in the plan; null when there is none. */
  next: Date | null
}

// An occurrence that is later than this when it is planned counts as missed. Normally it is planned minutes ahead.
const graceMs = 10_000
const mostPerPlan = 1000
const kept: Readonly<Record<CatchUp, number>> = { latest: 1, all: 100, none: 0 }

/**
 * Plans the occurrences of a cron job from `next`, the first that has not been planned, up to `until`. Each follows from
 * the one before it, never from the clock, so none is lost or planned twice. After a long outage one plan does not reach
 * the present; the following ones do.
 */
export function planOccurrences(
  schedule: CronSchedule,
  catchUp: CatchUp,
  { next, now, until }: { next: Date; now: Date; until: Date },
): OccurrencePlan {
  const times: number[] = []
  let at: number | null = next.getTime()
  while (at !== null && at <= until.getTime() && times.length < mostPerPlan) {
    times.push(at)
    at = nextScheduled(schedule, at)?.atMs ?? null
  }
  const lateBefore = now.getTime() - graceMs
  const late = times.filter(time => time < lateBefore).length
  const missed = Math.max(0, late - kept[catchUp])
  // When there is more to come that is late, which of these are the latest cannot be told yet.
  const goesOn = at !== null && at < lateBefore
  const planned = goesOn ? times.slice(0, missed) : times
  const rest = times[planned.length] ?? at
  return {
    occurrences: planned.map((time, i) => ({ at: new Date(time), missed: i < missed })),
    next: rest === null ? null : new Date(rest),
  }
}
