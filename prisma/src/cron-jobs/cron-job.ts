import { type CatchUp, type CronSchedule, type Overlap, parseCron } from '@belfry/domain'
import { requestColumnOf, type StoredRequest } from '../tasks/stored-request.ts'

/** What a caller says about a cron job. */
export type CronJobFields = StoredRequest & {
  name: string
  /** Five fields, checked. */
  cron: string
  timezone: string
  startsAt: Date | null
  /** No occurrence at this instant or later. */
  endsAt: Date | null
  overlap: Overlap
  catchUp: CatchUp
}

/** When a stored cron job fires and how far its occurrences have become tasks. */
export type CronJobCursor = {
  id: string
  cron: string
  timezone: string
  startsAt: Date | null
  endsAt: Date | null
  catchUp: CatchUp
  pausedAt: Date | null
  nextRunAt: Date | null
}

export const cursorColumns = `id, cron, timezone, starts_at AS "startsAt", ends_at AS "endsAt", catch_up AS "catchUp",
  paused_at AS "pausedAt", next_run_at AS "nextRunAt"`

/** The column of each field. */
export const columnOf = {
  name: 'name',
  cron: 'cron',
  timezone: 'timezone',
  startsAt: 'starts_at',
  endsAt: 'ends_at',
  overlap: 'overlap',
  catchUp: 'catch_up',
  ...requestColumnOf,
} as const satisfies Record<keyof CronJobFields, string>

/**
 * Reads the rule of a stored cron job.
 * @throws Error when the expression is not one that may be stored.
 */
export function scheduleOf(job: Pick<CronJobFields, 'cron' | 'timezone' | 'startsAt' | 'endsAt'>): CronSchedule {
  const parsed = parseCron(job.cron)
  if (!parsed.ok) throw new Error(parsed.message)
  return { cron: parsed.cron, timezone: job.timezone, startsAt: job.startsAt, endsAt: job.endsAt }
}
