import { z } from 'zod'
import { repeatable, textField } from './fields.ts'
import { idField, timestampField } from './response-fields.ts'
import { runErrorCodes } from './run.ts'
import { selectionBody } from './selection.ts'
import { label } from './task-controls.ts'
import { id, instant, line, oneOf, topic } from './text-rules.ts'

const filter = z
  .strictObject({
    cronjob_id: textField(id('cron')).optional(),
    topic: textField(topic).optional(),
    label: textField(label).optional(),
    from: textField(instant).optional(),
    to: textField(instant).optional(),
    name: textField(line(200)).optional(),
    host: repeatable(line(300)).optional(),
    error: repeatable(oneOf(runErrorCodes)).optional(),
  })
  .meta({
    description:
      '`from` <= execute_at < `to`. `name` is a prefix, `host` has its port, and `error` is that of the last run. An empty filter selects all.',
  })

/** The body that selects dead letters, by their ids or by a filter. */
export const settleDeadLettersBody = selectionBody(filter)

export type SettleDeadLettersBody = z.infer<typeof settleDeadLettersBody>

const maxReplaysPerSecond = 1_000

/** The body that selects dead letters to replay. */
export const replayDeadLettersBody = selectionBody(filter, {
  per_second: z
    .int()
    .min(1)
    .max(maxReplaysPerSecond)
    .optional()
    .meta({
      description:
        'How many of the replays are due per second, the first at once. Default: all are due at once. Retries are not counted.',
      examples: [10],
    }),
})

/** A replay or discard in the background. */
export const deadLetterOperation = z
  .object({
    id: idField('op'),
    workspace_id: idField('ws'),
    action: z.enum(['replay', 'discard']),
    filter: z.object({
      cronjob_id: idField('cron').nullable(),
      topic: z.string().nullable(),
      label: z.string().nullable(),
      from: timestampField().nullable(),
      to: timestampField().nullable(),
      name: z.string().nullable(),
      host: z.array(z.string()).nullable(),
      error: z.array(z.enum(runErrorCodes)).nullable(),
    }),
    per_second: z
      .int()
      .nullable()
      .meta({ description: 'How many of its replays are due per second. Null: all at once.', examples: [null] }),
    status: z.enum(['running', 'done', 'cancelled']),
    total: z.int().meta({ description: 'Dead letters that matched when it started.', examples: [4200] }),
    settled: z.int().meta({ description: 'Dead letters replayed or discarded so far.', examples: [1500] }),
    created_at: timestampField(),
    updated_at: timestampField(),
    finished_at: timestampField().nullable(),
  })
  .meta({ id: 'DeadLetterOperation' })

export type DeadLetterOperation = z.infer<typeof deadLetterOperation>

const operation = deadLetterOperation
  .nullable()
  .meta({ description: 'Set when there are too many for one request; the rest follows in the background.' })

/** The result of a replay. */
export const replayedDeadLetters = z.object({ replayed: z.int().meta({ examples: [12] }), operation })

/** The result of a discard. */
export const discardedDeadLetters = z.object({ discarded: z.int().meta({ examples: [12] }), operation })
