import { type EndAction, endedState } from '@belfry/db/tasks/end-tasks'
import { fromId, NIL_UUID } from '@belfry/domain/id'
import { notFound } from '../http/refusals.ts'
import { ok, type Reply } from '../http/reply.ts'
import { where } from '../http/where.ts'
import { endDecided } from '../tasks/end-tasks.ts'
import { findTask } from '../tasks/task-row.ts'
import { type Call, readFilters } from './call.ts'
import { messagesWhere, readTime } from './message-filter.ts'
import { presentMessage } from './present-message.ts'

/** `GET /v2/messages/{messageId}` */
export async function getMessage(call: Call<'task.read'>): Promise<Reply> {
  return ok(presentMessage(await readMessage(call)))
}

/** `DELETE /v2/messages/{messageId}` */
export async function cancelMessage(call: Call<'task.delete'>): Promise<Reply> {
  const { id, finishedAt } = await readMessage(call)
  if (finishedAt !== null) throw notFound()
  return ok({ cancelled: await end(call, [id]) })
}

const maxAtOnce = 1_000

/** `DELETE /v2/messages`: by ids, by filters, or all. It ends them all in one call, so it ignores `count`. */
export async function cancelMessages(call: Call<'task.delete'>): Promise<Reply> {
  const query = await readFilters(call)
  let cancelled = 0
  for (const action of ['cancel', 'stop'] as const) {
    for (let before = maxUuid; ; ) {
      const ids = await findOpen(call, query, action, before)
      cancelled += ids.length === 0 ? 0 : await endDecided(call.ctx, call.caller, ids, action)
      before = ids.at(-1) ?? before
      if (ids.length < maxAtOnce) break
    }
  }
  return ok({ cancelled })
}

const maxUuid = 'ffffffff-ffff-ffff-ffff-ffffffffffff'

async function findOpen(
  { ctx, caller }: Call,
  query: URLSearchParams,
  action: EndAction,
  before: string,
): Promise<string[]> {
  const found = where()
  found.and('t.workspace_id = ?', caller.workspaceId)
  found.and('t.state = ?::task_state', endedState[action])
  found.and('t.id < ?', before)
  const [from, to] = [readTime(query, 'fromDate'), readTime(query, 'toDate')]
  if (from) found.and('t.created_at >= ?', from)
  if (to) found.and('t.created_at <= ?', to)
  messagesWhere(query, ['count', 'cursor', 'fromDate', 'toDate'], found)
  const text = `
    SELECT t.id FROM tasks t JOIN task_requests r ON r.task_id = t.id WHERE ${found.text}
    ORDER BY t.workspace_id, t.state, t.id DESC LIMIT ${maxAtOnce}`
  const { rows } = await ctx.pool.query<{ id: string }>(text, found.values)
  return rows.map(({ id }) => id)
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
