import type { Task } from '@belfry/client'
import { expect, it } from 'vitest'
import { taskTable } from './rows.ts'

const task = {
  id: 'task_1',
  state: 'retrying',
  executeAt: '2026-11-27T09:00:00.000Z',
  attempts: 1,
  blocked: null,
} as Task

it.each([
  [null, 'retrying'],
  [{ reason: 'queue', queue: 'q' }, 'retrying'],
  [{ reason: 'held' }, 'retrying, held'],
] as const)('a task that waits for %j is shown as %s', (blocked, text) => {
  expect(taskTable.row({ ...task, blocked }).cells[1]).toEqual({ text, colour: 'yellow' })
})
