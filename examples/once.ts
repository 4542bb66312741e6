// A receiver that does its work once for each task, with Express and PostgreSQL.
//
//   CREATE TABLE received_webhooks (id text PRIMARY KEY, received_at timestamptz NOT NULL DEFAULT now());
//   CREATE TABLE paid_orders (order_id integer PRIMARY KEY);
import { WebhookVerificationError, webhooks } from '@belfry/client'
import express from 'express'
import pg from 'pg'

const secret = process.env.BELFRY_SIGNING_SECRET
if (!secret) throw new Error('Set BELFRY_SIGNING_SECRET to the signing secret of your workspace, whsec_...')

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
pool.on('error', error => console.error(error)) // An idle connection broke; the pool opens another one.
const app = express()

app.post('/hooks/belfry', express.raw({ type: () => true, limit: '1mb' }), async (request, response, next) => {
  try {
    const body = Buffer.isBuffer(request.body) ? request.body : ''
    const { id, payload } = await webhooks.verify<Order | undefined>(body, request.headers, secret)
    await once(id, client => handle(client, payload))
    response.sendStatus(204)
  } catch (error) {
    if (error instanceof WebhookVerificationError) response.status(400).send(error.message)
    else next(error) // Belfry retries after a 500.
  }
})

type Order = { order: number }

/**
 * Does the work of a webhook unless it was done before. The id and the work are committed together: when the work fails,
 * the next attempt does it. A repeated request waits until the first one has committed or failed.
 */
async function once(id: string, work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const text = 'INSERT INTO received_webhooks (id) VALUES ($1) ON CONFLICT DO NOTHING'
    const { rowCount } = await client.query(text, [id])
    if (rowCount === 1) await work(client)
    await client.query('COMMIT')
    client.release()
  } catch (error) {
    client.release(true) // Closing the connection rolls back.
    throw error
  }
}

async function handle(client: pg.PoolClient, payload: Order | undefined): Promise<void> {
  if (payload) await client.query('INSERT INTO paid_orders (order_id) VALUES ($1)', [payload.order])
}

app.listen(Number(process.env.PORT ?? 4000))
