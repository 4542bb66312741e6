import { z } from 'zod'
import { timestampField } from './answer-fields.ts'

/** The calendar month of UTC that is counted: from `start` on, before `end`. */
export const periodField = z
  .object({ start: timestampField(), end: timestampField() })
  .meta({ id: 'Period', description: 'A calendar month of UTC: from start on, before end.' })

function share(limit: number) {
  return z.object({ used: z.int().meta({ examples: [42] }), limit: z.int().meta({ examples: [limit] }) })
}

export const usage = z
  .object({
    period: periodField,
    executions: share(10_000).meta({ description: 'Tasks whose dispatch started in the period; retries are free.' }),
    storage_bytes: share(100_000_000).meta({ description: 'Stored payloads and captured bodies, some seconds old.' }),
    workspaces: share(2),
    daily: z
      .array(
        z.object({
          date: z.string().meta({ format: 'date', examples: ['2026-11-21'] }),
          executions: z.int().meta({ examples: [42] }),
          failed: z.int().meta({ description: 'Tasks that ended dead.', examples: [1] }),
        }),
      )
      .meta({ description: 'Each day of the period up to today, in UTC.' }),
  })
  .meta({ id: 'Usage' })

export type Usage = z.infer<typeof usage>
