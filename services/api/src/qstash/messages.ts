import { isPrefetched, openTo } from '@belfry/db/bulk-operations/bulk-operations'
import { findMatchingTasks, type TaskFilter } from '@belfry/db/tasks/task-filter'
import { fromId, NIL_UUID } from '@belfry/domain/id'
import { notFound } from '../http/refusals.ts'
import { endDecided } from '../tasks/end-tasks.ts'
import { findTask } from '../tasks/task-row.ts'
import { type Call, on, type QstashRoutes, readFilters } from './call.ts'
import { readCount, readFilter, readTimes } from './message-filter.ts'
import { presentMessage } from './present-message.ts'

export const messageRoutes: QstashRoutes = [
  ['/messages', { delete: on('task.delete', cancelMessages) }],
  [
    '/messages/:id',
    {
      get: on('task.read', async call => presentMessage(await readMessage(call))),
      delete: on('task.delete', cancelMessage),
    },
  ],
]

async function cancelMessage(call: Call<'task.delete'>) {
  const { id, finishedAt } = await readMessage(call)
  if (finishedAt !== null) throw notFound()
  return { cancelled: await end(call, [id]) }
}

// By ids, by filters, or all; at most `count` of them.
async function cancelMessages(call: Call<'task.delete'>) {
  const query = await readFilters(call)
  const { from, to } = readTimes(query)
  const filter = readFilter(query, ['count', 'cursor', 'fromDate', 'toDate'])
  const max = readCount(query, Number.POSITIVE_INFINITY)
  return { cancelled: await cancelMatching(call, { ...filter, created_from: from, created_to: to }, max) }
}

const maxAtOnce = 1_000

/** Cancels or stops the messages that a filter selects, up to `max` of them. Returns how many. */
export async function cancelMatching(
  { ctx, caller }: Call<'task.delete'>,
  filter: TaskFilter,
  max = Number.POSITIVE_INFINITY,
): Promise<number> {
  const among = { also: isPrefetched, maxScanned: null }
  let cancelled = 0
  for (const action of ['cancel', 'stop'] as const) {
    for (let isDone = false; !isDone && cancelled < max; ) {
      const limit = Math.min(max - cancelled, maxAtOnce)
      const { ids } = await findMatchingTasks(ctx.pool, caller.workspaceId, openTo[action], filter, limit, among)
      const ended = ids.length === 0 ? 0 : await endDecided(ctx, caller, ids, action)
      cancelled += ended
      isDone = ended === 0 || ids.length < limit
    }
  }
  return cancelled
}

async function readMessage({ ctx, caller, name: id }: Call) {
  const row = await findTask(ctx.pool, caller.workspaceId, fromId('msg', id) ?? NIL_UUID)
  if (!row) throw notFound()
  return row
}

// A message may start to wait for a retry between the two.
async function end({ ctx, caller }: Call<'task.delete'>, ids: readonly string[]): Promise<number> {
  return (await endDecided(ctx, caller, ids, 'cancel')) || (await endDecided(ctx, caller, ids, 'stop'))
}
