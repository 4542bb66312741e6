import { createTestDatabase } from '@belfry/test-support'
import { expect, it, onTestFinished, vi } from 'vitest'
import { openPool } from '../src/postgres/pool.ts'

it('keeps two connections when the pool is idle, and closes the others', async () => {
  const database = await createTestDatabase()
  onTestFinished(() => database.drop())
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  onTestFinished(() => void vi.useRealTimers())
  const pool = openPool(database.url, { max: 6, onError: () => {} })
  onTestFinished(() => pool.end())
  await Promise.all(Array.from({ length: 6 }, () => pool.query('SELECT pg_sleep(0.1)')))
  expect(pool.totalCount).toBe(6)
  vi.advanceTimersByTime(3_600_000)
  expect(pool.totalCount).toBe(2)
  expect((await pool.query('SELECT 1 AS n')).rows).toEqual([{ n: 1 }])
})
