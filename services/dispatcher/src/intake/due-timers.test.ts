import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createDueTimers } from './due-timers.ts'

function setup() {
  const due: string[][] = []
  const timers = createDueTimers<string>(() => performance.now())
  return { due, timers, add: (task: string, at: number) => timers.add(task, at, tasks => due.push(tasks)) }
}

it('passes on the tasks of the same millisecond together, and in the order of their times', async () => {
  const { due, timers, add } = setup()
  const start = Math.ceil(performance.now())
  add('c', start + 120)
  add('a', start + 59.2)
  add('b', start + 60)
  while (due.length < 2) await sleep(5)
  expect(due).toEqual([['a', 'b'], ['c']])
  expect(timers.takeAll()).toEqual([])
})

it('returns the tasks that still wait, and passes on none of them afterwards', async () => {
  const { due, timers, add } = setup()
  for (const [i, task] of ['a', 'b', 'c'].entries()) add(task, performance.now() + 20 + i)
  expect(timers.takeAll().toSorted()).toEqual(['a', 'b', 'c'])
  await sleep(40)
  expect(due).toEqual([])
})
