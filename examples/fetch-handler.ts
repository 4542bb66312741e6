// A receiver for Cloudflare Workers, and for all other platforms that pass the environment to a `fetch` handler.
import { WebhookVerificationError, webhooks } from '@belfry/client'

type Env = { BELFRY_SIGNING_SECRET?: string }

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    try {
      const { id, payload } = await webhooks.verify(await request.text(), request.headers, env.BELFRY_SIGNING_SECRET)
      // All attempts of a task have the same id: ignore ids that you have processed.
      console.log(id, payload)
      return new Response(null, { status: 204 })
    } catch (error) {
      if (error instanceof WebhookVerificationError) return new Response(error.message, { status: 400 })
      throw error
    }
  },
}
