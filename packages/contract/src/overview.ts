import { z } from 'zod'
import { idField, millisecondsField, timestampField } from './answer-fields.ts'
import { repeatable, textField } from './fields.ts'
import { runStatuses } from './run.ts'
import { id, oneOf } from './text-rules.ts'

export const overviewRanges = ['1h', '24h', '7d'] as const

export type OverviewRange = (typeof overviewRanges)[number]

/** The query of the overview: how far it looks back. */
export const overviewQuery = z.strictObject({
  range: textField(oneOf(overviewRanges)).default('24h'),
})

const lagMs = z
  .int()
  .nullable()
  .meta({ description: 'Null when nothing ran.', examples: [12] })
const counted = {
  total: z.int().meta({ description: 'Attempts that started.', examples: [1200] }),
  failed: z.int().meta({ examples: [3] }),
  is_capped: z.boolean().meta({
    description: 'There were more: both numbers are of the first ones only.',
    examples: [false],
  }),
}

const failingHost = z
  .object({
    host: z.string().meta({ examples: ['example.com'] }),
    failed: z.int().meta({ examples: [3] }),
    last_failed_at: timestampField(),
    last_run_id: idField('run'),
    last_response_status: z
      .int()
      .nullable()
      .meta({ examples: [503] }),
    last_error_code: z
      .string()
      .nullable()
      .meta({ examples: ['http_status'] }),
  })
  .meta({ id: 'FailingHost' })

/** How the dispatches of a workspace have gone. */
export const overview = z
  .object({
    range: z.enum(overviewRanges),
    from: timestampField(),
    to: timestampField(),
    bucket_ms: millisecondsField(1_800_000),
    runs: z.object(counted),
    lag: z
      .object({
        p50_ms: lagMs,
        p99_ms: lagMs,
        sampled: z.int().meta({ description: 'How many runs these were computed from.', examples: [1200] }),
      })
      .meta({ description: 'How much later than scheduled attempts started; from a sample spread over the range.' }),
    buckets: z.array(z.object({ at: timestampField(), ...counted, lag_p50_ms: lagMs, lag_p99_ms: lagMs })),
    failing_hosts: z.array(failingHost).meta({ description: 'Those with the most failures first.' }),
    failures_looked_at: z.int().meta({
      description: 'Hosts are counted from so many of the latest failures.',
      examples: [3],
    }),
  })
  .meta({ id: 'Overview' })

export type Overview = z.infer<typeof overview>

const dueCount = z.object({ at: timestampField(), count: z.int().meta({ examples: [12] }) })

/** What a workspace is about to dispatch. */
export const upcoming = z
  .object({
    from: timestampField(),
    overdue: z.int().meta({ description: 'Due by now and not started yet.', examples: [0] }),
    hour: z.array(dueCount).meta({ description: 'The coming hour in steps of five minutes.' }),
    day: z.array(dueCount).meta({ description: 'The coming 24 hours, hour by hour.' }),
    next: z
      .array(
        z.object({
          at: timestampField(),
          task_id: idField('task').nullable(),
          cronjob_id: idField('cron').nullable(),
          name: z.string().meta({ examples: ['Daily report'] }),
        }),
      )
      .meta({ description: 'What is first; an occurrence of a cron job that is not a task yet has no task_id.' }),
    is_capped: z.boolean().meta({
      description: 'There is more than was counted: each number is a least.',
      examples: [false],
    }),
  })
  .meta({ id: 'Upcoming' })

export type Upcoming = z.infer<typeof upcoming>

/** The query that asks for the latest runs of some cron jobs at once. */
export const recentRunsQuery = z.strictObject({ cronjob_id: repeatable(id('cron')).default([]) })

const recentRun = z.object({
  id: idField('run'),
  status: z.enum(runStatuses),
  started_at: timestampField(),
  duration_ms: millisecondsField(84),
})

/** The latest runs of each cron job, oldest first. */
export const recentRuns = z.object({
  data: z.array(z.object({ cronjob_id: idField('cron'), runs: z.array(recentRun) })),
})

export type RecentRuns = z.infer<typeof recentRuns>
