// A receiver that does its work once for each task, with Express and PostgreSQL.
//
//   CREATE TABLE paid_orders (order_id integer PRIMARY KEY);
import { WebhookVerificationError, webhooks } from '@belfry/client'
import { onceInPool, postgres } from '@belfry/once'
import express from 'express'
import pg from 'pg'

const secret = process.env.BELFRY_SIGNING_SECRET
if (!secret) throw new Error('Set BELFRY_SIGNING_SECRET to the signing secret of your workspace, whsec_...')

type Order = { order: number }

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL })
pool.on('error', error => console.error(error)) // An idle connection broke; the pool opens another one.
const app = express()

app.post('/hooks/belfry', express.raw({ type: () => true, limit: '1mb' }), async (request, response, next) => {
  try {
    const body = Buffer.isBuffer(request.body) ? request.body : ''
    const { id, payload } = await webhooks.verify<Order | undefined>(body, request.headers, secret)
    await onceInPool(pool, id, async client => {
      if (payload) await client.query('INSERT INTO paid_orders (order_id) VALUES ($1)', [payload.order])
    })
    response.sendStatus(204)
  } catch (error) {
    if (error instanceof WebhookVerificationError) response.status(400).send(error.message)
    else next(error) // Belfry retries after a 500.
  }
})

pool.query(postgres.createTable).then(() => app.listen(Number(process.env.PORT ?? 4000)))
