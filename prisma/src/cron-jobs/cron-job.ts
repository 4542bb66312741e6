import type { CronSchedule } from '@belfry/domain/cron/cron-schedule'
import { parseCron } from '@belfry/domain/cron/parse-cron'
import { pieceAt } from '@belfry/domain/cron/zone-pieces'
import { fillLabels, hasPlaceholder } from '@belfry/domain/label'
import type { QstashFields } from '@belfry/domain/qstash/qstash-fields'
import type { CronJob } from '../generated/client.ts'
import { requestColumnOf, type StoredRequest } from '../tasks/stored-request.ts'
import { extraRequestBytes } from '../usage/count-storage.ts'

type Rule = Pick<CronJob, 'name' | 'cron' | 'timezone' | 'startsAt' | 'endsAt' | 'overlap' | 'catchUp'>

/** What a caller gives a cron job. Default of what may be left out: null. */
export type CronJobFields = StoredRequest &
  Rule &
  Partial<Pick<CronJob, 'maxAgeMs' | 'qstashId' | 'key' | 'subscriptionId'>> & {
    labels?: readonly string[] | null
    writtenLabels?: readonly string[] | null
  }

/** The rule of a stored cron job, and its next occurrence that is not a task yet. */
export type CronJobCursor = Pick<
  CronJob,
  'id' | 'cron' | 'timezone' | 'startsAt' | 'endsAt' | 'catchUp' | 'pausedAt' | 'nextRunAt' | 'qstash'
> & {
  /** What the request of each occurrence takes. */
  bytes: number
}

export const cursorColumns = `id, cron, timezone, starts_at AS "startsAt", ends_at AS "endsAt", catch_up AS "catchUp",
  paused_at AS "pausedAt", next_run_at AS "nextRunAt", qstash,
  coalesce(octet_length(payload), 0) + coalesce(${extraRequestBytes()}, 0) AS bytes`

export const columnOf = {
  name: 'name',
  cron: 'cron',
  timezone: 'timezone',
  startsAt: 'starts_at',
  endsAt: 'ends_at',
  overlap: 'overlap',
  catchUp: 'catch_up',
  maxAgeMs: 'max_age_ms',
  labels: 'labels',
  writtenLabels: 'written_labels',
  qstashId: 'qstash_id',
  key: 'key',
  subscriptionId: 'subscription_id',
  ...requestColumnOf,
} as const satisfies Record<keyof CronJobFields, string>

/** Returns the fields of labels that the payload of a cron job fills in. */
export function filledLabels(
  labels: readonly string[] | null,
  { payload, contentType }: Pick<CronJobFields, 'payload' | 'contentType'>,
): Pick<CronJobFields, 'labels' | 'writtenLabels'> {
  if (!labels?.some(hasPlaceholder)) return { labels, writtenLabels: null }
  const filled = fillLabels(labels, contentType === null ? payload : null)
  return { labels: filled.length > 0 ? filled : null, writtenLabels: labels }
}

/**
 * Parses the rule of a cron job.
 * @throws Error when the expression is invalid.
 */
export function scheduleOf(job: Pick<CronJobFields, 'cron' | 'timezone' | 'startsAt' | 'endsAt'>): CronSchedule {
  const parsed = parseCron(job.cron)
  if (!parsed.ok) throw new Error(parsed.message)
  return { cron: parsed.cron, timezone: job.timezone, startsAt: job.startsAt, endsAt: job.endsAt }
}

/** Returns the rule of a cron job. Null when this process cannot read it, e.g. because of an unknown time zone. */
export function readableScheduleOf(job: Parameters<typeof scheduleOf>[0]): CronSchedule | null {
  try {
    pieceAt(job.timezone, 0) // throws for an unknown zone
    return scheduleOf(job)
  } catch {
    return null
  }
}

/** Returns how long after their times the occurrences of a cron job are due: the delay of a schedule of the QStash interface. */
export function delayIn(qstash: string | null): number {
  return qstash === null ? 0 : ((JSON.parse(qstash) as QstashFields).delayMs ?? 0)
}
