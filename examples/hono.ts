// A receiver for Hono: on Cloudflare Workers, Deno and Bun as it is, on Node with hono-node.ts.
import { WebhookVerificationError, webhooks } from '@belfry/client'
import { Hono } from 'hono'
import { env } from 'hono/adapter'

const app = new Hono()

app.post('/hooks/belfry', async context => {
  // A binding on Workers, a variable of the environment elsewhere.
  const { BELFRY_SIGNING_SECRET } = env<{ BELFRY_SIGNING_SECRET?: string }>(context)
  try {
    const { id, payload } = await webhooks.verify(
      await context.req.text(),
      context.req.raw.headers,
      BELFRY_SIGNING_SECRET,
    )
    // All attempts of a task have the same id: ignore ids that you have processed.
    console.log(id, payload)
    return context.body(null, 204)
  } catch (error) {
    if (error instanceof WebhookVerificationError) return context.text(error.message, 400)
    throw error
  }
})

export default app
