import { AppError } from '@belfry/domain'
import { readiness } from '@belfry/runtime'
import express, { type Express } from 'express'
import { receiveWebhooks } from './billing/receive-webhooks.ts'
import type { Context } from './context.ts'
import { builtDashboard, serveDashboard } from './dashboard/serve-dashboard.ts'
import { checkProtocol } from './http/check-protocol.ts'
import { problemHandler } from './http/problem.ts'
import { notFound } from './http/refusals.ts'
import { requestId } from './http/request-id.ts'
import { requestLog } from './http/request-log.ts'
import { sendReply } from './http/send.ts'
import { traceRequests } from './http/trace-requests.ts'
import { operators } from './operators/operators.ts'
import { routes } from './routes.ts'

/** Builds the HTTP application: its parts run from top to bottom. */
export function createApp(ctx: Context, checks: Parameters<typeof readiness>[0]): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('trust proxy', ctx.config.trustProxy)
  app.use(requestId)
  app.use(checkProtocol)
  app.get('/healthz', async (_request, response) => sendReply(response, { status: 200, body: { status: 'ok' } }))
  app.get('/readyz', async (_request, response) => {
    // Without the queue every response stays the same, so the API is ready without it.
    const state = await readiness(checks, ['queue'])
    await sendReply(response, { status: state.ready ? 200 : 503, body: state })
  })
  if (ctx.tracing) app.use(traceRequests(ctx.tracing))
  app.use(requestLog(ctx))
  app.use((_request, response, next) => {
    response.setHeader('X-Content-Type-Options', 'nosniff')
    response.setHeader('Cache-Control', 'no-store')
    next()
  })
  const { operatorPassword } = ctx.config
  if (operatorPassword !== null) app.use('/admin', operators(ctx, ctx.boardQueues, operatorPassword))
  if (ctx.stripe) app.post('/api/webhooks/stripe', receiveWebhooks(ctx, ctx.stripe))
  for (const [path, methods] of Object.entries(routes)) {
    const route = app.route(path)
    for (const [method, endpoint] of Object.entries(methods)) {
      route[method as 'get'](async (request, response) => endpoint.serve(ctx, request, response))
    }
    const allowed = Object.keys(methods).join(', ').toUpperCase()
    route.all((_request, response) => {
      response.setHeader('Allow', allowed)
      throw new AppError('method_not_allowed', `This path supports ${allowed}.`)
    })
  }
  app.use(serveDashboard(builtDashboard, ctx.config.publicUrl))
  app.use(() => {
    throw notFound()
  })
  app.use(problemHandler(ctx))
  return app
}
