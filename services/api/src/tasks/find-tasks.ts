import type { listTasksQuery } from '@belfry/contract'
import type { z } from 'zod'
import type { Context } from '../context.ts'
import { readCursor, toPage } from '../http/page.ts'
import { where } from '../http/where.ts'
import { presentTask } from './present-task.ts'
import { selectTasks, type TaskRow } from './task-row.ts'

/** Reads a page of a workspace's tasks, newest first; of those for which a further condition of ours holds, if given. */
export async function findTasks(
  ctx: Context,
  workspaceId: string,
  query: z.output<typeof listTasksQuery>,
  only?: { list: string; condition: string },
) {
  const list = `${only?.list ?? 'tasks'}:${workspaceId}`
  const after = readCursor(list, query)
  const filter = where()
  filter.and('t.workspace_id = ?', workspaceId)
  if (only) filter.and(only.condition)
  if (after) filter.and('t.id < ?', after)
  if (query.state) filter.and('t.state = ANY (?::task_state[])', query.state)
  if (query.source) filter.and('t.source = ANY (?::task_source[])', query.source)
  if (query.cronjob_id) filter.and('t.cron_job_id = ANY (?::uuid[])', query.cronjob_id)
  if (query.name) filter.and('starts_with(r.name, ?)', query.name)
  if (query.from) filter.and('t.execute_at >= ?', query.from)
  if (query.to) filter.and('t.execute_at < ?', query.to)
  const text = `${selectTasks} WHERE ${filter.text} ORDER BY t.id DESC LIMIT ${query.limit + 1}`
  const { rows } = await ctx.pool.query<TaskRow>(text, filter.values)
  return toPage(list, query, rows, presentTask)
}
