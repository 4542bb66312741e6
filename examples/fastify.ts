// A receiver for Fastify.
import { WebhookVerificationError, webhooks } from '@belfry/client'
import fastify from 'fastify'

const secret = process.env.BELFRY_SIGNING_SECRET
if (!secret) throw new Error('Set BELFRY_SIGNING_SECRET to the signing secret of your workspace, whsec_...')

const app = fastify()

app.register((scope, _options, ready) => {
  // The signature covers the raw bytes. These parsers replace Fastify's for the routes of this scope only.
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  scope.post('/hooks/belfry', async (request, reply) => {
    try {
      // There is nothing to parse in a request without a body.
      const body = Buffer.isBuffer(request.body) ? request.body : ''
      const { id, payload } = await webhooks.verify(body, request.headers, secret)
      // All attempts of a task have the same id: ignore ids that you have processed.
      console.log(id, payload)
      return reply.code(204).send()
    } catch (error) {
      if (error instanceof WebhookVerificationError) return reply.code(400).send(error.message)
      throw error
    }
  })
  ready()
})

void app.listen({ port: Number(process.env.PORT ?? 4000) })
