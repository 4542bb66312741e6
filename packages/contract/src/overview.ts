import { z } from 'zod'
import { repeatable, textField } from './fields.ts'
import { idField, millisecondsField, numberOrNull, shownNumber, timestampField } from './response-fields.ts'
import { runStatusField } from './run.ts'
import { id, instant, oneOf, textRule, wholeNumber } from './text-rules.ts'

const overviewRanges = ['1h', '24h', '7d', '30d'] as const

export type OverviewRange = (typeof overviewRanges)[number]

/** The query of the overview: its time range. */
export const overviewQuery = z.strictObject({
  range: textField(oneOf(overviewRanges)).default('24h'),
})

const lagMs = numberOrNull('Null when nothing ran.', 12)
const counted = {
  total: shownNumber('Attempts that started.', 1200),
  failed: z.int().meta({ examples: [3] }),
}

/** Statistics of all attempts of a workspace in a range. A run is included a few seconds after it was recorded. */
export const overview = z
  .object({
    range: z.enum(overviewRanges),
    from: timestampField(),
    to: timestampField(),
    bucket_ms: millisecondsField(1_800_000),
    runs: z.object(counted),
    lag: z.object({ p50_ms: lagMs, p99_ms: lagMs }).meta({
      description:
        'The delay between the scheduled time and the start of all attempts of the range, to within 10 percent.',
    }),
    buckets: z.array(z.object({ at: timestampField(), ...counted, lag_p50_ms: lagMs, lag_p99_ms: lagMs })),
  })
  .meta({ id: 'Overview' })

export type Overview = z.infer<typeof overview>

const dueCount = z.object({
  at: timestampField().meta({ description: 'The start of the step.' }),
  count: shownNumber('Dispatches that are due in the step.', 12),
})

const upcomingStart = textRule(
  { ...instant.schema, description: 'The start of the time, in RFC 3339 with an offset or `Z`. Default: now.' },
  instant,
)

/** The query of the upcoming dispatches. */
export const upcomingQuery = z.strictObject({
  from: textField(upcomingStart).optional(),
  hours: textField(wholeNumber(1, 168, { description: 'The length of the time in hours. Default: 24.' })).default(24),
  limit: textField(wholeNumber(1, 1_000, { description: 'How many dispatches `next` names. Default: 10.' })).default(
    10,
  ),
})

/** The upcoming dispatches of a workspace. */
export const upcoming = z
  .object({
    from: timestampField(),
    overdue: shownNumber('Tasks that are due but not started.', 0),
    blocked: shownNumber(
      'Those of them that wait for their queue, or for their host: it is paused, its circuit breaker is open, or it gets no more calls at a time.',
      0,
    ),
    hour: z.array(dueCount).meta({ description: 'The first hour in steps of five minutes.' }),
    day: z.array(dueCount).meta({ description: 'The whole time, by default 24 hours, in steps of an hour.' }),
    next: z
      .array(
        z.object({
          at: timestampField(),
          task_id: idField('task').nullable(),
          cronjob_id: idField('cron').nullable(),
          name: z.string().meta({ examples: ['Daily report'] }),
        }),
      )
      .meta({ description: 'The first dispatches; an occurrence of a cron job without a task yet has no task_id.' }),
    is_capped: z.boolean().meta({
      description: 'Partial count; actual numbers are higher.',
      examples: [false],
    }),
  })
  .meta({ id: 'Upcoming' })

export type Upcoming = z.infer<typeof upcoming>

/** The query that asks for the latest runs of some cron jobs at once. */
export const recentRunsQuery = z.strictObject({ cronjob_id: repeatable(id('cron')).default([]) })

const recentRun = z.object({
  id: idField('run'),
  status: runStatusField,
  started_at: timestampField(),
  duration_ms: millisecondsField(84),
})

/** The latest runs of each cron job, oldest first. */
export const recentRuns = z.object({
  data: z.array(z.object({ cronjob_id: idField('cron'), runs: z.array(recentRun) })),
})

export type RecentRuns = z.infer<typeof recentRuns>
