import { WebhookVerificationError, webhooks } from '@belfry/client'
import express from 'express'

export const app = express()

// The signature is over the bytes, so this route takes the body as it came: keep `express.json()` off it.
app.post('/hooks/belfry', express.raw({ type: '*/*' }), async (request, response) => {
  const body: Buffer = request.body ?? Buffer.alloc(0)
  try {
    const { id } = await webhooks.verify(body, request.headers, process.env.BELFRY_SIGNING_SECRET ?? '')
    const order = JSON.parse(body.toString())
    // Every attempt of one task has the same id: do nothing for an id that you have seen.
    console.log(`${id}: order ${order.id}`)
    response.sendStatus(204)
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    response.status(400).send(error.message)
  }
})
