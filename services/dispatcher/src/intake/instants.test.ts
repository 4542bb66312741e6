import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createInstants } from './instants.ts'

function setup() {
  const due: string[][] = []
  const instants = createInstants<string>(() => performance.now())
  return { due, instants, add: (task: string, at: number) => instants.add(task, at, tasks => due.push(tasks)) }
}

it('hands over what is due at the same instant together, and in the order of the instants', async () => {
  const { due, instants, add } = setup()
  const start = Math.ceil(performance.now())
  add('c', start + 120)
  add('a', start + 59.2)
  add('b', start + 60)
  while (due.length < 2) await sleep(5)
  expect(due).toEqual([['a', 'b'], ['c']])
  expect(instants.takeAll()).toEqual([])
})

it('gives back what still waits, and hands over none of it afterwards', async () => {
  const { due, instants, add } = setup()
  for (const [i, task] of ['a', 'b', 'c'].entries()) add(task, performance.now() + 20 + i)
  expect(instants.takeAll().toSorted()).toEqual(['a', 'b', 'c'])
  await sleep(40)
  expect(due).toEqual([])
})
