import { expect, it } from 'vitest'
import { createCrowd } from './crowd.ts'

const task = (workspace: string, dueAt: number) => ({ id: 'task_1', dueAt, workspace })

it('lets the first hundred of a workspace and a second pass, and then asks them to wait for the others', () => {
  const isCrowded = createCrowd()
  const answers = Array.from({ length: 150 }, (_, i) => isCrowded(task('ws_a', 5_000 + i)))
  expect(answers.filter(Boolean)).toHaveLength(50)
  expect(answers.lastIndexOf(false)).toBe(99)
  expect(isCrowded(task('ws_b', 5_000))).toBe(false)
  expect(isCrowded(task('ws_a', 6_000))).toBe(false)
})

it('lets pass what does not say whose it is', () => {
  const isCrowded = createCrowd()
  const answers = Array.from({ length: 150 }, () => isCrowded({ id: 'task_1', dueAt: 5_000 }))
  expect(answers).not.toContain(true)
})

it('forgets the oldest crowd when there are too many', () => {
  const isCrowded = createCrowd()
  for (let i = 0; i < 100; i++) isCrowded(task('ws_a', 5_000))
  for (let i = 0; i < 10_000; i++) isCrowded(task(`ws_${i}`, 5_000))
  expect(isCrowded(task('ws_a', 5_000))).toBe(false)
})
