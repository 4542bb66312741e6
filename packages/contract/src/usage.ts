import { z } from 'zod'
import { listOf, namedObject } from './objects.ts'
import { numberOrNull, shownNumber, timestampField } from './response-fields.ts'

export const periodField = z
  .object({ start: timestampField().meta({ description: 'The first moment of the month.' }), end: timestampField() })
  .meta({ id: 'Period', description: 'A UTC calendar month; start is included, end is not.' })

const used = z.int().meta({ examples: [42] })

function share(limit: number) {
  return z.object({
    used,
    limit: numberOrNull('Null: no limit.', limit),
  })
}

export const usage = namedObject('Usage', {
  period: periodField,
  executions: share(10_000).meta({
    description: 'Tasks whose dispatch started in the period; retries do not count.',
  }),
  storage_bytes: share(100_000_000).meta({
    description: 'Stored payloads and captured responses; updated within seconds.',
  }),
  workspaces: z.object({ used, limit: z.int().meta({ examples: [2] }) }),
  daily: listOf({
    date: z.string().meta({ format: 'date', examples: ['2026-11-21'], description: 'The day, in UTC.' }),
    executions: z.int().meta({ examples: [42] }),
    failed: shownNumber('Tasks that became dead letters.', 1),
  }).meta({ description: 'The days of the period until today, in UTC.' }),
})

export type Usage = z.infer<typeof usage>
