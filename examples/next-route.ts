// A receiver for the App Router of Next.js: app/hooks/belfry/route.ts
import { WebhookVerificationError, webhooks } from '@belfry/client'

export async function POST(request: Request): Promise<Response> {
  try {
    const { BELFRY_SIGNING_SECRET } = process.env
    const { id, payload } = await webhooks.verify(await request.text(), request.headers, BELFRY_SIGNING_SECRET)
    // All attempts of a task have the same id: ignore ids that you have processed.
    console.log(id, payload)
    return new Response(null, { status: 204 })
  } catch (error) {
    if (error instanceof WebhookVerificationError) return new Response(error.message, { status: 400 })
    throw error
  }
}
