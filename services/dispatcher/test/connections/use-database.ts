import { openPool, type Pool } from '@belfry/db/postgres/pool'
import { borrowTestDatabase } from '@belfry/test-support'
import { afterAll, beforeAll } from 'vitest'

/**
 * Gives the tests of a file a database without rows.
 * @param take - Receives its connections before the first test.
 */
export function useDatabase(take: (pool: Pool) => void): void {
  let close: () => Promise<void>
  beforeAll(async () => {
    const { url, giveBack } = await borrowTestDatabase()
    const pool = openPool(url, { max: 8, onError: error => console.error(error) })
    close = () => pool.end().then(giveBack)
    take(pool)
  })
  afterAll(() => close())
}
