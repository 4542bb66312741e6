import { expect, it } from 'vitest'
import { createHand, type TaskInHand } from './hand.ts'

let n = 0
const task = (workspace: string, host: string, more: Partial<TaskInHand> = {}): TaskInHand => {
  return { id: `${n++}`, workspace, dueAt: 1_000, origin: `https://${host}`, host, ...more }
}

it('takes some thousand tasks of one host, and still has room for other hosts and other workspaces', () => {
  const hand = createHand()
  const fill = (workspace: string, host: string) => {
    const before = hand.size
    while (hand.take(task(workspace, host)) !== 'full');
    return hand.size - before
  }
  expect(fill('a', 'x')).toBeGreaterThan(5_000)
  expect(fill('a', 'y')).toBeGreaterThan(1_000)
  expect(fill('b', 'x')).toBeGreaterThan(1_000)
  for (let i = 0; i < 100; i++) fill('a', `z${i}`)
  expect(fill('c', 'x')).toBeGreaterThan(100)
  expect(hand.size).toBeLessThan(20_000)
})

it('takes the same task for the same time once, until it is let go', () => {
  const hand = createHand()
  const first = hand.take(task('a', 'x', { id: 'one' }))
  expect(hand.take(task('a', 'x', { id: 'one' }))).toBe('known')
  expect(hand.take(task('a', 'x', { id: 'one', dueAt: 2_000 }))).toMatchObject({ id: 'one' })
  expect(hand.countOf('a')).toBe(2)
  if (typeof first === 'string') throw new Error(first)
  Object.assign(first, { dueAt: 5_000, host: 'y' }) // as when the claim says that both have changed
  hand.letGo(first)
  hand.letGo(first)
  expect(hand.countOf('a')).toBe(1)
  expect(hand.take(task('a', 'x', { id: 'one' }))).toMatchObject({ id: 'one' })
})
