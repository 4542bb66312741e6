import { WebhookVerificationError, webhooks } from '@belfry/client'
import express from 'express'

export const app = express()

// The signature covers the raw bytes, so this route must not use `express.json()`.
app.post('/hooks/belfry', express.raw({ type: '*/*' }), async (request, response) => {
  const body: Buffer = request.body ?? Buffer.alloc(0)
  try {
    const { id } = await webhooks.verify(body, request.headers, process.env.BELFRY_SIGNING_SECRET ?? '')
    const order = JSON.parse(body.toString())
    // All attempts of a task have the same id: ignore ids that you have processed.
    console.log(`${id}: order ${order.id}`)
    response.sendStatus(204)
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    response.status(400).send(error.message)
  }
})
