// The sender of `npm run prove:once`: stores orders, each in a transaction that also schedules its call, and rolls some of them
// back. A new process continues after the last order that was committed. Its connection keeps it running after the last order.
import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'

const { SHOP_URL, TARGET_URL, ORDERS, PER_SECOND } = process.env
const last = Number(ORDERS)
// The last attempt comes after minutes, also on a machine on which a process needs long to start.
const retry = { max_retries: 20, backoff: 'exponential', base_delay_ms: 1_000, max_delay_ms: 20_000 }

const client = new pg.Client({ connectionString: SHOP_URL })
await client.connect()
const { rows } = await client.query<{ next: number }>('SELECT coalesce(max(number), 0) + 1 AS next FROM orders')
const [first, beganAt] = [rows[0]?.next ?? 1, performance.now()]
for (let order = first; order <= last; order++) {
  await sleep(beganAt + ((order - first) * 1_000) / Number(PER_SECOND) - performance.now())
  await client.query('BEGIN')
  await client.query('INSERT INTO orders (number) VALUES ($1)', [order])
  await client.query('SELECT belfry.call_at($1, now(), $2, $3)', [TARGET_URL, { order }, { retry }])
  await client.query(order % 10 === 3 && order < last ? 'ROLLBACK' : 'COMMIT')
}
