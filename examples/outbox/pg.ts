// An order and its reminder, in one transaction of pg.
import type { Pool } from 'pg'

export async function placeOrder(pool: Pool, order: number): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    await client.query('INSERT INTO orders (id) VALUES ($1)', [order])
    const text = `SELECT belfry.call_at($1, now() + interval '3 days', $2, $3)`
    await client.query(text, ['https://example.com/hooks/remind', { order }, { key: `remind:${order}` }])
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  } finally {
    client.release()
  }
}
