import { taskSources } from '@belfry/domain/task-source'
import { z } from 'zod'
import { idField, timestampField } from './response-fields.ts'
import { selectionBody } from './selection.ts'
import { listTasksQuery } from './task.ts'

const { state: _, limit: __, cursor: ___, ...filterFields } = listTasksQuery.shape

const filter = z
  .strictObject(filterFields)
  .meta({ description: 'The filters of the list of tasks, except `state`. An empty filter selects all.' })

/** The body that selects the tasks to cancel or to stop, by their ids or by a filter. */
export const endTasksBody = selectionBody(filter)

export type EndTasksBody = z.infer<typeof endTasksBody>

const texts = (example: string[] | null) =>
  z
    .array(z.string())
    .nullable()
    .meta({ examples: [example] })

/** A cancel or a stop of many tasks in the background. */
export const taskOperation = z
  .object({
    id: idField('op'),
    workspace_id: idField('ws'),
    action: z.enum(['cancel', 'stop']),
    filter: z.object({
      source: z.array(z.enum(taskSources)).nullable(),
      cronjob_id: z.array(idField('cron')).nullable(),
      event_id: z.array(idField('evt')).nullable(),
      topic: texts(null),
      label: texts(['customer:42']),
      queue: texts(null),
      callback_of: z.array(idField('task')).nullable(),
      name: z
        .string()
        .nullable()
        .meta({ examples: [null] }),
      from: timestampField().nullable(),
      to: timestampField().nullable(),
    }),
    status: z.enum(['running', 'done', 'cancelled']),
    total: z.int().meta({
      description:
        'Tasks that matched when it started, of the first 100,000 in the workspace; never less than `ended`.',
      examples: [4200],
    }),
    ended: z.int().meta({ description: 'Tasks cancelled or stopped so far.', examples: [1500] }),
    created_at: timestampField(),
    updated_at: timestampField(),
    finished_at: timestampField().nullable(),
  })
  .meta({ id: 'TaskOperation' })

export type TaskOperation = z.infer<typeof taskOperation>

const operation = taskOperation
  .nullable()
  .meta({ description: 'Set when there are too many for one request; they follow in the background.' })

/** The result of a cancel of many tasks. */
export const cancelledTasks = z.object({ cancelled: z.int().meta({ examples: [12] }), operation })

/** The result of a stop of many tasks. */
export const stoppedTasks = z.object({ stopped: z.int().meta({ examples: [12] }), operation })

/** The query that counts tasks, with the filters of their list. */
export const countTasksQuery = z.strictObject({ state: listTasksQuery.shape.state, ...filterFields })

/** A number of tasks. */
export const taskCount = z
  .object({
    count: z.int().meta({ examples: [4200] }),
    is_capped: z
      .boolean()
      .meta({ description: 'Whether there may be more: at most 100,000 tasks are checked, and 10,000 counted.' }),
  })
  .meta({ id: 'TaskCount' })

export type TaskCount = z.infer<typeof taskCount>
