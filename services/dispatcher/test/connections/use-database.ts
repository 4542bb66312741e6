import { openPool, type Pool } from '@belfry/db'
import { createTestDatabase } from '@belfry/test-support'
import { afterAll, beforeAll } from 'vitest'

/**
 * Gives the tests of a file a database of their own.
 * @param take - Receives its connections before the first test.
 */
export function useDatabase(take: (pool: Pool) => void): void {
  let close: () => Promise<void>
  beforeAll(async () => {
    const { url, drop } = await createTestDatabase()
    const pool = openPool(url, { max: 8, onError: error => console.error(error) })
    close = () => pool.end().then(drop)
    take(pool)
  })
  afterAll(() => close())
}
