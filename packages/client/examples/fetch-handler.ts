// Cloudflare Workers, Deno (`deno serve`), Bun, and everything else that answers a Request with a Response.
import { WebhookVerificationError, webhooks } from '@belfry/client'

type Env = { BELFRY_SIGNING_SECRET: string }

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const body = await request.text()
    try {
      const { id } = await webhooks.verify(body, request.headers, env.BELFRY_SIGNING_SECRET)
      const order = JSON.parse(body)
      // Every attempt of one task has the same id: do nothing for an id that you have seen.
      console.log(`${id}: order ${order.id}`)
      return new Response(null, { status: 204 })
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error
      return new Response(error.message, { status: 400 })
    }
  },
}
