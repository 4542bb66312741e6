import { taskSources } from '@belfry/domain/task-source'
import { z } from 'zod'
import { checkWhen } from './compile.ts'
import { flag, hostFilter, integer, refuse, repeatable, textField } from './fields.ts'
import { namedObject } from './objects.ts'
import { operation } from './operation.ts'
import { listQuery, pageOf, timeRange } from './page.ts'
import { idField, numberOrNull, orNull, shownFlag, shownNumber, timestampField } from './response-fields.ts'
import { lastStatusFilter, runErrorCodes } from './run.ts'
import { listDeadLettersQuery, listTasksQuery, task } from './task.ts'
import { label } from './task-controls.ts'
import { id, line, oneOf, type TextRule, topic } from './text-rules.ts'

const wrongCount = 'ids must have 1 to 100 elements.'

export const bulkActions = ['cancel', 'stop', 'replay', 'discard'] as const

const perSecond = integer(1, 1_000)
  .optional()
  .meta({
    description:
      'How many of the replays are due per second, 1 to 1,000. The first is due at once. Default: all are. Retries are not counted.',
    examples: [10],
  })

/** The body that starts a bulk operation, on tasks that it selects by their ids or by a filter. */
export const startBulkOperationBody = selectionBody(
  listDeadLettersQuery
    .omit({ limit: true, cursor: true })
    .extend({ upcoming: flag.optional(), state_reason: repeatable(line(100)).optional() })
    .meta({ description: 'The filters of the list of dead letters, and `upcoming`. An empty filter selects all.' }),
  {
    action: z.enum(bulkActions).meta({
      description:
        '`cancel` pending tasks, `stop` tasks that wait for a retry, `replay` dead letters as new tasks, or `discard` them. With `state_reason` in the filter, `replay` also sends cancelled tasks, each once. Other tasks are skipped.',
      examples: ['replay'],
    }),
    per_second: perSecond,
  },
).superRefine(({ action, per_second }, ctx) => {
  if (per_second === undefined || action === 'replay') return
  refuse(ctx, per_second, { code: 'unknown_field', message: 'Only a replay has per_second.' }, ['per_second'])
})

const { state, state_reason, limit: _, cursor: __, ...taskFilterFields } = listTasksQuery.shape

const taskFilter = z
  .strictObject(taskFilterFields)
  .meta({ description: 'The filters of the list of tasks, except the state. An empty filter selects all.' })

/** The body that selects the tasks to cancel or to stop, by their ids or by a filter. */
export const endTasksBody = selectionBody(taskFilter)

export type EndTasksBody = z.infer<typeof endTasksBody>

const deadLetterFilter = z
  .strictObject({
    cronjob_id: single(id('cron')),
    topic: single(topic),
    label: single(label),
    ...timeRange,
    name: textField(line(200)).optional(),
    host: hostFilter.optional(),
    error: repeatable(oneOf(runErrorCodes)).optional(),
    response_status: lastStatusFilter.optional(),
  })
  .meta({
    description:
      '`from` <= `execute_at` < `to`. `name` is a prefix, `host` has its port, and the last run has the `error` and the `response_status`. An empty filter selects all.',
  })

// A filter with one value.
function single<T>(rule: TextRule<T>) {
  return textField(rule)
    .transform(value => [value])
    .optional()
}

export const settleDeadLettersBody = selectionBody(deadLetterFilter)

export type SettleDeadLettersBody = z.infer<typeof settleDeadLettersBody>

export const replayDeadLettersBody = selectionBody(deadLetterFilter, { per_second: perSecond })

const texts = (example: string[] | null) => orNull(z.array(z.string()), { examples: [example] })

const status = z
  .enum(['running', 'done', 'cancelled'])
  .meta({ description: 'Whether it is running, done or cancelled.' })
const shownPerSecond = numberOrNull('How many of its replays are due per second. Null: all at once.')
const ends = { created_at: timestampField(), updated_at: timestampField(), finished_at: timestampField().nullable() }

const totalOf = (what: string, count: string) =>
  shownNumber(
    `${what} that matched when it started, of the first 100,000 in the workspace; never less than \`${count}\`.`,
    4200,
  )

const ids = { id: idField('op'), workspace_id: idField('ws') }
const times = { from: timestampField().nullable(), to: timestampField().nullable() }

const shownFilter = z.object({
  source: z.array(z.enum(taskSources)).nullable(),
  cronjob_id: z.array(idField('cron')).nullable(),
  event_id: z.array(idField('evt')).nullable(),
  topic: texts(null),
  label: texts(['customer:42']),
  queue: texts(null),
  callback_of: z.array(idField('task')).nullable(),
  name: orNull(z.string(), { examples: [null] }),
  host: texts(null),
  ...times,
  upcoming: orNull(z.boolean(), { examples: [null] }),
})

/** A cancel or a stop of many tasks in the background. */
export const taskOperation = namedObject('TaskOperation', {
  ...ids,
  action: z.enum(['cancel', 'stop']),
  filter: shownFilter,
  status,
  total: totalOf('Tasks', 'ended'),
  ended: shownNumber('Tasks cancelled or stopped so far.', 1500),
  ...ends,
})

export type TaskOperation = z.infer<typeof taskOperation>

/** A cancel, a stop, a replay or a discard of many tasks in the background. */
export const bulkOperation = namedObject('BulkOperation', {
  ...ids,
  action: z.enum(bulkActions),
  ids: orNull(z.array(idField('task')), {
    description: 'The chosen tasks. Null: all that match the filter.',
    examples: [null],
  }),
  filter: shownFilter.extend({
    state_reason: texts(null),
    error: z.array(z.enum(runErrorCodes)).nullable(),
    response_status: texts(null),
  }),
  per_second: shownPerSecond,
  status,
  total: totalOf('Tasks', 'done'),
  done: shownNumber('Tasks cancelled, stopped, replayed or discarded so far.', 1500),
  ...ends,
})

export type BulkOperation = z.infer<typeof bulkOperation>

const startedEnding = taskOperation
  .nullable()
  .meta({ description: 'Set when there are too many for one request; they follow in the background.' })

export const cancelledTasks = namedObject('CancelledTasks', {
  cancelled: z.int().meta({ examples: [12] }),
  operation: startedEnding,
})

export const stoppedTasks = namedObject('StoppedTasks', {
  stopped: z.int().meta({ examples: [12], description: 'The number of tasks that this request stopped.' }),
  operation: startedEnding,
})

/** A replay or discard in the background. */
export const deadLetterOperation = namedObject('DeadLetterOperation', {
  ...ids,
  action: z.enum(['replay', 'discard']),
  filter: z.object({
    cronjob_id: idField('cron').nullable(),
    topic: z.string().nullable(),
    label: z.string().nullable(),
    ...times,
    name: z.string().nullable(),
    host: z.array(z.string()).nullable(),
    error: z.array(z.enum(runErrorCodes)).nullable(),
    response_status: texts(null),
  }),
  per_second: shownPerSecond,
  status,
  total: totalOf('Dead letters', 'settled'),
  settled: shownNumber('Dead letters replayed or discarded so far.', 1500),
  ...ends,
})

export type DeadLetterOperation = z.infer<typeof deadLetterOperation>

const startedSettling = deadLetterOperation
  .nullable()
  .meta({ description: 'Set when there are too many for one request; the rest follows in the background.' })

export const replayedDeadLetters = namedObject('ReplayedDeadLetters', {
  replayed: z.int().meta({ examples: [12], description: 'The number of dead letters that this request replayed.' }),
  operation: startedSettling,
})

export const discardedDeadLetters = namedObject('DiscardedDeadLetters', {
  discarded: z.int().meta({ examples: [12], description: 'The number of dead letters that this request discarded.' }),
  operation: startedSettling,
})

export const countTasksQuery = z.strictObject({ state, state_reason, ...taskFilterFields })

export const taskCount = namedObject('TaskCount', {
  count: z.int().meta({ examples: [4200], description: 'How many tasks match, at most 10,000.' }),
  is_capped: shownFlag('Whether there may be more: at most 100,000 tasks are checked, and 10,000 counted.'),
})

export const bulkOperations = {
  listDeadLetters: operation('GET', '/api/v1/scheduler/dead-letters', {
    right: 'dead_letter.read',
    summary: 'List tasks that could not be delivered, until they are replayed or discarded',
    client: 'deadLetters.list',
    mayLag: true,
    query: listDeadLettersQuery,
    response: { status: 200, body: pageOf(task) },
  }),

  replayDeadLetters: operation('POST', '/api/v1/scheduler/dead-letters/replay', {
    right: 'dead_letter.replay',
    summary: 'Replay dead letters: each as a new task that is due at once, or so many per second',
    description: 'Skips tasks that are not dead letters any more.',
    client: 'deadLetters.replay',
    body: replayDeadLettersBody,
    response: { status: 200, orStatus: 202, body: replayedDeadLetters },
    errors: ['conflict'],
  }),

  discardDeadLetters: operation('POST', '/api/v1/scheduler/dead-letters/discard', {
    right: 'dead_letter.discard',
    summary: 'Discard dead letters; the tasks stay dead',
    client: 'deadLetters.discard',
    body: settleDeadLettersBody,
    response: { status: 200, orStatus: 202, body: discardedDeadLetters },
    errors: ['conflict'],
  }),

  getDeadLetterOperation: operation('GET', '/api/v1/scheduler/dead-letters/operations/:operation', {
    right: 'dead_letter.read',
    summary: 'Get the progress of a replay or a discard in the background',
    client: 'deadLetters.operation',
    response: { status: 200, body: deadLetterOperation },
  }),

  cancelDeadLetterOperation: operation('DELETE', '/api/v1/scheduler/dead-letters/operations/:operation', {
    right: 'dead_letter.replay',
    summary: 'Cancel a replay or a discard in the background; what it has done stays done',
    client: 'deadLetters.cancelOperation',
    response: { status: 200, body: deadLetterOperation },
    errors: ['conflict'],
  }),

  listBulkOperations: operation('GET', '/api/v1/scheduler/bulk-operations', {
    right: 'task.read',
    orRights: ['dead_letter.read'],
    summary: 'List bulk operations, newest first; they are kept for 30 days after their end',
    client: 'bulkOperations.list',
    query: listQuery,
    response: { status: 200, body: pageOf(bulkOperation) },
  }),

  startBulkOperation: operation('POST', '/api/v1/scheduler/bulk-operations', {
    right: 'task.delete',
    orRights: ['dead_letter.replay', 'dead_letter.discard'],
    summary: 'Cancel, stop, replay or discard many tasks in the background',
    description: 'A different running operation causes a conflict.',
    client: 'bulkOperations.start',
    body: startBulkOperationBody,
    response: { status: 202, body: bulkOperation },
    errors: ['conflict'],
  }),

  getBulkOperation: operation('GET', '/api/v1/scheduler/bulk-operations/:operation', {
    right: 'task.read',
    orRights: ['dead_letter.read'],
    summary: 'Get the progress of a bulk operation',
    client: 'bulkOperations.get',
    response: { status: 200, body: bulkOperation },
  }),

  cancelOperation: operation('POST', '/api/v1/scheduler/bulk-operations/:operation/cancel', {
    right: 'task.delete',
    orRights: ['dead_letter.replay'],
    summary: 'Cancel a bulk operation; what it has done stays done',
    client: 'bulkOperations.cancel',
    response: { status: 200, body: bulkOperation },
    errors: ['conflict'],
  }),
}

/** Returns the body that selects tasks, by their ids or by a filter, and may have `more` fields. */
function selectionBody<Filter extends z.ZodType, More extends z.ZodRawShape = Record<never, never>>(
  filter: Filter,
  more: More = {} as More,
) {
  return z
    .strictObject({
      ids: z
        .array(textField(id('task')))
        .min(1, wrongCount)
        .max(100, wrongCount)
        .optional(),
      filter: filter.optional(),
      ...more,
    })
    .check(
      checkWhen(
        ({ issues }) => issues.length === 0,
        (body: { ids?: unknown; filter?: unknown }, ctx) => {
          if ((body.ids === undefined) !== (body.filter === undefined)) return
          refuse(ctx, body, { code: 'required', message: 'Send either ids or filter; an empty filter selects all.' })
        },
      ),
    )
    .meta({
      oneOf: [{ required: ['ids'] }, { required: ['filter'] }],
      description: 'Either `ids` or `filter`.',
    })
}
