import type { Task } from '@belfry/contract/task'
import { expect, it } from 'vitest'
import { checkDraft, draftFor } from './task-form.tsx'

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
