import { expect, it } from 'vitest'
import { createTaskBuffer, type IncomingTask } from './task-buffer.ts'

let n = 0
const task = (workspace: string, host: string, more: Partial<IncomingTask> = {}): IncomingTask => {
  return { id: `${n++}`, workspace, dueAt: 1_000, origin: `https://${host}`, host, ...more }
}

it('holds some thousand tasks of one host, and still has space for other hosts and workspaces', () => {
  const buffer = createTaskBuffer()
  const fill = (workspace: string, host: string) => {
    const before = buffer.size
    while (buffer.add(task(workspace, host)) !== 'full');
    return buffer.size - before
  }
  expect(fill('a', 'x')).toBeGreaterThan(5_000)
  expect(fill('a', 'y')).toBeGreaterThan(1_000)
  expect(fill('b', 'x')).toBeGreaterThan(1_000)
  for (let i = 0; i < 100; i++) fill('a', `z${i}`)
  expect(fill('c', 'x')).toBeGreaterThan(100)
  expect(buffer.size).toBeLessThan(20_000)
})

it('holds a task once for the same time, until it is evicted', () => {
  const buffer = createTaskBuffer()
  const first = buffer.add(task('a', 'x', { id: 'one' }))
  expect(buffer.add(task('a', 'x', { id: 'one' }))).toBe('duplicate')
  expect(buffer.add(task('a', 'x', { id: 'one', dueAt: 2_000 }))).toMatchObject({ id: 'one' })
  expect(buffer.countOf('a')).toBe(2)
  if (typeof first === 'string') throw new Error(first)
  Object.assign(first, { dueAt: 5_000, host: 'y' }) // as when the claim says that both have changed
  buffer.evict(first)
  buffer.evict(first)
  expect(buffer.countOf('a')).toBe(1)
  expect(buffer.add(task('a', 'x', { id: 'one' }))).toMatchObject({ id: 'one' })
})

it('keeps space for other accounts, however many workspaces an account has', () => {
  const buffer = createTaskBuffer()
  for (let i = 0; i < 2_000; i++) while (buffer.add(task(`w${i}`, 'x'), 'abuser') !== 'full');
  expect(buffer.size).toBeLessThanOrEqual(18_000)
  let ofVictim = 0
  while (buffer.add(task('victim', 'x'), 'other') !== 'full') ofVictim++
  expect(ofVictim).toBeGreaterThan(500)
  for (let i = 0; i < 10; i++) {
    const added = buffer.add(task('third', 'x'), 'third')
    if (typeof added === 'string') throw new Error(added)
    buffer.evict(added)
  }
})
