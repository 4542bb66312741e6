// An order and its reminder, in one transaction of Kysely.
import { type Kysely, sql } from 'kysely'

export async function placeOrder(db: Kysely<{ orders: { id: number } }>, order: number): Promise<void> {
  await db.transaction().execute(async tx => {
    await tx.insertInto('orders').values({ id: order }).execute()
    await sql`
      SELECT belfry.call_at('https://example.com/hooks/remind', now() + interval '3 days',
                            ${JSON.stringify({ order })}, ${JSON.stringify({ key: `remind:${order}` })})`.execute(tx)
  })
}
