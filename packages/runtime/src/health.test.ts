import { expect, it } from 'vitest'
import { readiness } from './health.ts'

it('stays ready when only the queue fails', async () => {
  const state = await readiness({ database: async () => {}, queue: () => Promise.reject(new Error('down')) })
  expect(state).toMatchObject({ ready: true, checks: { database: 'ok', queue: 'unavailable' } })
})
