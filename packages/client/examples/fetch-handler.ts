// For Cloudflare Workers, Deno (`deno serve`), Bun, and all other runtimes with `fetch` handlers.
import { WebhookVerificationError, webhooks } from '@belfry/client'

type Env = { BELFRY_SIGNING_SECRET: string }

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const body = await request.text()
    try {
      const { id } = await webhooks.verify(body, request.headers, env.BELFRY_SIGNING_SECRET)
      const order = JSON.parse(body)
      // All attempts of a task have the same id: ignore ids that you have processed.
      console.log(`${id}: order ${order.id}`)
      return new Response(null, { status: 204 })
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error
      return new Response(error.message, { status: 400 })
    }
  },
}
