import {
  cancelledTasks,
  countTasksQuery,
  endTasksBody,
  stoppedTasks,
  taskCount,
  taskOperation,
} from './bulk-operation.ts'
import { exportFormat, exportTypes } from './export.ts'
import { operation } from './operation.ts'
import { pageOf } from './page.ts'
import { createTaskBody, listTasksQuery, task, updateTaskBody } from './task.ts'
import { batchAnswer, createTasksBody } from './task-batch.ts'

export const exportTasksQuery = listTasksQuery.omit({ limit: true, cursor: true }).extend(exportFormat)

export const tasksOperations = {
  listTasks: operation('GET', '/api/v1/scheduler/tasks', {
    right: 'task.read',
    summary: 'List tasks, newest first',
    client: 'tasks.list',
    mayLag: true,
    query: listTasksQuery,
    response: { status: 200, body: pageOf(task) },
  }),

  createTask: operation('POST', '/api/v1/scheduler/tasks', {
    right: 'task.create',
    summary: 'Schedule a task',
    description:
      'It is stored when the response arrives. With a `key` the response may be a pending task that was created earlier; see `on_conflict`.',
    client: 'tasks.create',
    body: createTaskBody,
    response: { status: 201, orStatus: 200, body: task },
    errors: ['quota_exceeded', 'key_in_use', 'conflict'],
    isIdempotent: true,
  }),

  createTasks: operation('POST', '/api/v1/scheduler/tasks/batch', {
    right: 'task.create',
    summary: 'Schedule up to 1,000 tasks; an invalid row does not affect the others',
    description:
      'They are stored when the response arrives. An invalid task fails alone, so check the `error` of each result.',
    client: 'tasks.createMany',
    body: createTasksBody,
    response: { status: 200, body: batchAnswer },
    errors: ['quota_exceeded', 'conflict'],
    isIdempotent: true,
  }),

  countTasks: operation('GET', '/api/v1/scheduler/tasks/count', {
    right: 'task.read',
    summary: 'Count tasks, up to 10,000',
    client: 'tasks.count',
    query: countTasksQuery,
    response: { status: 200, body: taskCount },
  }),

  cancelTasks: operation('POST', '/api/v1/scheduler/tasks/cancel', {
    right: 'task.delete',
    summary: 'Cancel pending tasks, by id or by filter',
    description: 'Skips tasks that are not pending.',
    client: 'tasks.cancelMany',
    body: endTasksBody,
    response: { status: 200, orStatus: 202, body: cancelledTasks },
    errors: ['conflict'],
  }),

  stopTasks: operation('POST', '/api/v1/scheduler/tasks/stop', {
    right: 'task.delete',
    summary: 'Stop tasks that wait for a retry, by id or by filter: they are dead',
    description: 'Skips other tasks.',
    client: 'tasks.stopMany',
    body: endTasksBody,
    response: { status: 200, orStatus: 202, body: stoppedTasks },
    errors: ['conflict'],
  }),

  getTaskOperation: operation('GET', '/api/v1/scheduler/tasks/operations/:operation', {
    right: 'task.read',
    summary: 'Get the progress of a cancel or a stop in the background',
    client: 'tasks.operation',
    response: { status: 200, body: taskOperation },
  }),

  endTaskOperation: operation('DELETE', '/api/v1/scheduler/tasks/operations/:operation', {
    right: 'task.delete',
    summary: 'Cancel a cancel or a stop in the background; what it has done stays done',
    client: 'tasks.cancelOperation',
    response: { status: 200, body: taskOperation },
    errors: ['conflict'],
  }),

  exportTasks: operation('GET', '/api/v1/scheduler/tasks/export', {
    right: 'task.read',
    summary: 'Export tasks as CSV or JSON Lines, newest first',
    description: 'The file may have any size.',
    client: 'tasks.export',
    mayLag: true,
    query: exportTasksQuery,
    response: { status: 200, texts: exportTypes },
  }),

  getTask: operation('GET', '/api/v1/scheduler/tasks/:task', {
    right: 'task.read',
    summary: 'Read a task',
    client: 'tasks.get',
    response: { status: 200, body: task },
    errors: ['log_storage_unavailable'],
  }),

  updateTask: operation('PATCH', '/api/v1/scheduler/tasks/:task', {
    right: 'task.write',
    summary: 'Change a pending task',
    client: 'tasks.update',
    body: updateTaskBody,
    response: { status: 200, body: task },
    errors: ['task_not_pending', 'quota_exceeded', 'conflict'],
  }),

  cancelTask: operation('DELETE', '/api/v1/scheduler/tasks/:task', {
    right: 'task.delete',
    summary: 'Cancel a pending task',
    description: 'After the response, its request was not and will not be sent.',
    client: 'tasks.cancel',
    response: { status: 200, body: task },
    errors: ['task_not_pending'],
  }),

  stopTask: operation('POST', '/api/v1/scheduler/tasks/:task/stop', {
    right: 'task.delete',
    summary: 'Stop a task that waits for a retry: it is dead',
    client: 'tasks.stop',
    response: { status: 200, body: task },
    errors: ['task_not_retrying'],
  }),

  replayTask: operation('POST', '/api/v1/scheduler/tasks/:task/replay', {
    right: 'task.write',
    summary: 'Replay a finished task, as a new task that is due at once',
    description: 'The body changes the new task, like `PATCH` does.',
    client: 'tasks.replay',
    body: updateTaskBody,
    response: { status: 201, body: task },
    errors: ['task_not_finished', 'quota_exceeded', 'conflict'],
    isIdempotent: true,
  }),
}
