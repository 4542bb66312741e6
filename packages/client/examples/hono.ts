import { WebhookVerificationError, webhooks } from '@belfry/client'
import { Hono } from 'hono'

type Env = { Bindings: { BELFRY_SIGNING_SECRET: string } }

export const app = new Hono<Env>()

app.post('/hooks/belfry', async context => {
  const body = await context.req.text()
  try {
    const { id } = await webhooks.verify(body, context.req.raw.headers, context.env.BELFRY_SIGNING_SECRET)
    const order = JSON.parse(body)
    // All attempts of a task have the same id: ignore ids that you have processed.
    console.log(`${id}: order ${order.id}`)
    return context.body(null, 204)
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    return context.text(error.message, 400)
  }
})

export default app
