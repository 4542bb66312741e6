import { z } from 'zod'
import { textField } from './fields.ts'
import { millisecondsField, shownNumber, timestampField } from './response-fields.ts'
import { instant } from './text-rules.ts'

/** The query of the counts of runs: `from` <= started_at < `to`, rounded to whole buckets. Default: the last 24 hours. */
export const runCountsQuery = z.strictObject({
  from: textField(instant).optional(),
  to: textField(instant).optional(),
})

/** The attempts of a workspace over a time. A run is included a few seconds after it was recorded. */
export const runCounts = z
  .object({
    from: timestampField().meta({ description: 'The start of the first bucket, at most 32 days ago.' }),
    to: timestampField().meta({ description: 'The end of the last bucket.' }),
    bucket_ms: millisecondsField(1_800_000),
    buckets: z
      .array(
        z.object({
          at: timestampField(),
          total: shownNumber('Attempts that started.', 1200),
          failed: z.int().meta({ examples: [3] }),
        }),
      )
      .meta({ description: 'At most 61 buckets.' }),
  })
  .meta({ id: 'RunCounts' })

export type RunCounts = z.infer<typeof runCounts>
