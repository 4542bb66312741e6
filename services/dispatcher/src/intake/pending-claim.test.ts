import { expect, it, vi } from 'vitest'
import { PendingClaim } from './pending-claim.ts'

it.each([true, false])('tells its waiter nothing of its entry after it was undone: written %s', isWritten => {
  const claim = new PendingClaim({ taskId: 'a task', token: 'a token' }, 'a session')
  const waiter = { onClaim: vi.fn(), onJournaled: vi.fn() }
  claim.tell(waiter)
  claim.entry = 'undone'
  claim.onJournaled(isWritten)
  expect([claim.entry, waiter.onJournaled.mock.calls]).toEqual(['undone', []])
})

it.each([
  [true, 'written'],
  [false, 'refused'],
] as const)('tells its waiter that its entry was written: %s', (isWritten, entry) => {
  const claim = new PendingClaim({ taskId: 'a task', token: 'a token' }, 'a session')
  const waiter = { onClaim: vi.fn(), onJournaled: vi.fn() }
  claim.tell(waiter)
  claim.entry = 'entering'
  claim.onJournaled(isWritten)
  expect(claim.entry).toBe(entry)
  expect(waiter.onJournaled).toHaveBeenCalledWith(claim, isWritten)
})
