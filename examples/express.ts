// A receiver for Express 5 and Express 4.
import { WebhookVerificationError, webhooks } from '@belfry/client'
import express from 'express'

const secret = process.env.BELFRY_SIGNING_SECRET
if (!secret) throw new Error('Set BELFRY_SIGNING_SECRET to the signing secret of your workspace, whsec_...')

const app = express()

// The signature covers the raw bytes, so this route must not use `express.json()`. Belfry sends up to 256 KB.
app.post('/hooks/belfry', express.raw({ type: () => true, limit: '1mb' }), async (request, response, next) => {
  try {
    // Without a body, Express 4 has an empty object here, and Express 5 undefined.
    const body = Buffer.isBuffer(request.body) ? request.body : ''
    const { id, payload } = await webhooks.verify(body, request.headers, secret)
    // All attempts of a task have the same id: ignore ids that you have processed.
    console.log(id, payload)
    response.sendStatus(204)
  } catch (error) {
    if (error instanceof WebhookVerificationError) response.status(400).send(error.message)
    else next(error) // Express 4 does not notice that an async handler has failed.
  }
})

app.listen(Number(process.env.PORT ?? 4000))
