import type { Run } from '@belfry/contract/run'
import type { Task } from '@belfry/contract/task'
import { describe, expect, it } from 'vitest'
import { historyOf } from './task-history.ts'

const task = {
  source: 'task',
  state: 'pending',
  state_reason: null,
  replay_of: null,
  topic: null,
  attempts: 0,
  created_at: '2026-11-21T10:00:00.000Z',
  execute_at: '2026-11-21T12:00:00.000Z',
  next_retry_at: null,
  finished_at: null,
} as Task
const run = (attempt: number, status: Run['status']) =>
  ({
    id: `run_${attempt}`,
    attempt,
    status,
    started_at: `2026-11-21T12:0${attempt}:00.000Z`,
    response_status: status === 'success' ? 200 : 503,
    error: status === 'success' ? null : { code: 'http_status', message: 'The target answered 503.' },
  }) as Run
const texts = (of: Partial<Task>, runs: Run[] = []) => historyOf({ ...task, ...of }, runs).map(({ text }) => text)

describe('the history of a task', () => {
  it('ends with the next attempt while the task is not finished', () => {
    expect(texts({})).toEqual(['Created', 'First run due'])
    expect(texts({ state: 'retrying', attempts: 1, next_retry_at: task.execute_at }, [run(1, 'failed')])).toEqual([
      'Created',
      'Run 1 failed: The target answered 503.',
      'Run 2 due',
    ])
  })

  it('ends with the result of a finished task, after its attempts in order', () => {
    const finished_at = '2026-11-21T12:09:00.000Z'
    expect(texts({ state: 'success', finished_at }, [run(2, 'success'), run(1, 'failed')])).toEqual([
      'Created',
      'Run 1 failed: The target answered 503.',
      'Run 2 succeeded with 200',
      'Completed',
    ])
    expect(texts({ state: 'cancelled', state_reason: 'user', finished_at }).at(-1)).toBe('Cancelled by a user')
  })
})
