// An order and its reminder, in one transaction of Drizzle.
import { sql } from 'drizzle-orm'
import type { NodePgDatabase } from 'drizzle-orm/node-postgres'
import { integer, pgTable } from 'drizzle-orm/pg-core'

const orders = pgTable('orders', { id: integer().primaryKey() })

export async function placeOrder(db: NodePgDatabase, order: number): Promise<void> {
  await db.transaction(async tx => {
    await tx.insert(orders).values({ id: order })
    await tx.execute(sql`
      SELECT belfry.call_at('https://example.com/hooks/remind', now() + interval '3 days',
                            ${JSON.stringify({ order })}, ${JSON.stringify({ key: `remind:${order}` })})`)
  })
}
