import type { Task } from '@belfry/contract/task'
import { expect, it } from 'vitest'
import { groupEvents } from './events.tsx'

const aTask = (id: string, event_id: string, topic: string, created_at: string) =>
  ({ id, event_id, topic, created_at }) as Task

it('groups the tasks of an event, even if a replay is newer than other events', () => {
  const tasks = [
    aTask('t4', 'e1', 'a', '4'),
    aTask('t3', 'e2', 'b', '3'),
    aTask('t2', 'e1', 'a', '1'),
    aTask('t1', 'e1', 'a', '1'),
  ]
  expect(groupEvents(tasks).map(({ id, topic, publishedAt, tasks }) => [id, topic, publishedAt, tasks.length])).toEqual(
    [
      ['e1', 'a', '1', 3],
      ['e2', 'b', '3', 1],
    ],
  )
})
