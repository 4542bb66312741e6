import type { Task } from '@belfry/contract/task'
import { expect, it } from 'vitest'
import { checkDraft, draftFor, taskBodyOf } from './task-form.tsx'

const task = {
  name: 'Waiting',
  url: 'https://example.com/',
  method: 'POST',
  headers: {},
  payload: null,
  labels: [],
  execute_at: '2026-11-21T12:00:00.250Z',
  expires_at: null,
} as unknown as Task

it('a due task that waits for its queue keeps its time, and takes no other past one', () => {
  const draft = draftFor(task, undefined, false)
  expect(checkDraft(draft, task, task)).toEqual({})
  const error = { execute_at: 'Choose a time in the future.' }
  expect(checkDraft({ ...draft, when: { ...draft.when, text: '2026-11-20 12:00' } }, task, task)).toEqual(error)
  expect(checkDraft(draft, undefined, task)).toEqual(error)
})

const zone = 'UTC'
const draft = { ...draftFor(undefined, undefined, false), name: 'Soon', url: 'https://example.com/' }

it('relative times are the same in each repetition of a submit', () => {
  const timed = { ...draft, when: { text: 'in 10 minutes', zone }, expires: { text: 'in 1 hour', zone } }
  expect(taskBodyOf(timed, undefined, new Date('2026-11-21T12:00:00Z'))).toMatchObject({
    execute_at: '2026-11-21T12:10:00.000Z',
    expires_at: '2026-11-21T13:00:00.000Z',
  })
})

it('a new task is due now by the clock of the API, not by the clock of the browser', () => {
  const now = { ...draft, when: { text: ' Now ', zone } }
  for (const browser of ['2020-01-01T00:00:00Z', '2099-01-01T00:00:00Z']) {
    const { execute_at, on_past } = taskBodyOf(now, undefined, new Date(browser))
    expect([execute_at, on_past]).toEqual(['1970-01-01T00:00:00.000Z', 'run'])
  }
  expect(taskBodyOf(now, task, new Date('2026-11-21T12:00:00Z'))).not.toHaveProperty('on_past')
})
