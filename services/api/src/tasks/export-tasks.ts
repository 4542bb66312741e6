import { exportTasksQuery, type Task } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { type Cell, exportReply, exportTypes } from '../http/export.ts'
import { scanTasks } from './find-tasks.ts'
import { presentTask } from './present-task.ts'
import type { TaskRow } from './task-row.ts'

export const exportTasks = endpoint({
  right: 'task.read',
  summary: 'Export tasks as CSV or JSON Lines, newest first',
  answer: { status: 200, texts: exportTypes },
  query: exportTasksQuery,
  async handle(ctx, { caller, query }) {
    const scan = scanTasks(caller.workspaceId, query)
    return exportReply<TaskRow, Task>(ctx, { name: 'tasks', format: query.format, scan, present: presentTask, columns })
  },
})

// Only the JSON form has headers and payloads.
const columns: Readonly<Record<string, (task: Task) => Cell>> = {
  id: task => task.id,
  name: task => task.name,
  source: task => task.source,
  cronjob_id: task => task.cronjob_id,
  topic: task => task.topic,
  url: task => task.url,
  method: task => task.method,
  execute_at: task => task.execute_at,
  state: task => task.state,
  state_reason: task => task.state_reason,
  attempts: task => task.attempts,
  next_retry_at: task => task.next_retry_at,
  last_run_id: task => task.last_run?.id ?? null,
  last_run_status: task => task.last_run?.status ?? null,
  last_run_response_status: task => task.last_run?.response_status ?? null,
  created_at: task => task.created_at,
  updated_at: task => task.updated_at,
  finished_at: task => task.finished_at,
}
