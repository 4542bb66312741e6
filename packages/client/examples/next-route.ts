// app/hooks/belfry/route.ts
import { WebhookVerificationError, webhooks } from '@belfry/client'

export async function POST(request: Request): Promise<Response> {
  const body = await request.text()
  try {
    const { id } = await webhooks.verify(body, request.headers, process.env.BELFRY_SIGNING_SECRET ?? '')
    const order = JSON.parse(body)
    // All attempts of a task have the same id: ignore ids that you have processed.
    console.log(`${id}: order ${order.id}`)
    return new Response(null, { status: 204 })
  } catch (error) {
    if (!(error instanceof WebhookVerificationError)) throw error
    return new Response(error.message, { status: 400 })
  }
}
