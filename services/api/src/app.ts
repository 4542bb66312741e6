import { AppError } from '@belfry/domain/app-error'
import { nearestName } from '@belfry/domain/nearest-name'
import { readiness } from '@belfry/runtime'
import type { Express, Router } from 'express'
import express from 'express'
import { LRUCache } from 'lru-cache'
import { receiveWebhooks } from './billing/stripe/receive-webhooks.ts'
import { hasOperators } from './config.ts'
import type { Context } from './context.ts'
import { builtDashboard, serveDashboard } from './dashboard/serve-dashboard.ts'
import { addRoutes } from './endpoint.ts'
import { checkHost, checkProtocol } from './http/check-request.ts'
import { problemHandler } from './http/problem.ts'
import { requestId, requestLog, traceRequests } from './http/request-log.ts'
import { sendResponse } from './http/response.ts'
import { qstash } from './qstash/qstash.ts'
import { aliases, routes } from './routes.ts'
import { clockRoutes } from './virtual-clock/clock-routes.ts'

/** Builds the HTTP application: its parts run from top to bottom. */
export function createApp(ctx: Context, checks: Parameters<typeof readiness>[0]): Express {
  const app = express()
  app.disable('x-powered-by')
  app.disable('etag')
  app.set('trust proxy', ctx.config.trustProxy)
  app.use(requestId)
  app.use(checkProtocol)
  app.get('/healthz', async (_request, response) => sendResponse(response, { status: 200, body: { status: 'ok' } }))
  // Any caller can ask, so all that ask within a second share one check, whose details only the operator port shows. Without
  // the queue every response stays the same, so the API is ready without it.
  const lastCheck = new LRUCache({ max: 1, ttl: 1_000, fetchMethod: () => readiness(checks) })
  app.get('/readyz', async (_request, response) => {
    const { ready } = await lastCheck.forceFetch('')
    await sendResponse(response, { status: ready ? 200 : 503, body: { ready } })
  })
  app.use(checkHost(ctx.config.hosts))
  if (ctx.tracing) app.use(traceRequests(ctx.tracing))
  app.use(requestLog(ctx))
  const isSecure = ctx.config.publicUrl.startsWith('https:')
  app.use((_request, response, next) => {
    if (isSecure) response.setHeader('Strict-Transport-Security', 'max-age=31536000')
    response.setHeader('Referrer-Policy', 'no-referrer')
    response.setHeader('X-Content-Type-Options', 'nosniff')
    response.setHeader('Cache-Control', 'no-store')
    next()
  })
  if (hasOperators(ctx.config)) {
    // Loaded with the first request of an operator.
    let pages: Promise<Router> | undefined
    app.use('/admin', async (request, response, next) => {
      pages ??= import('./operators/operators.ts').then(({ operators }) => operators(ctx))
      const serve = await pages
      serve(request, response, next)
    })
  }
  if (ctx.stripe) app.post('/api/webhooks/stripe', receiveWebhooks(ctx, ctx.stripe))
  // Loaded with the first request of an agent: many installations never get one.
  app.all('/mcp', async (request, response) => {
    const { serveAgents } = await import('./agents/serve-agents.ts')
    await serveAgents(ctx, app, request, response)
  })
  if (ctx.config.qstash) app.use(['/v2', '/llm/v1'], qstash(ctx))
  const testRoutes = __VIRTUAL_CLOCK__ && ctx.virtualClock ? clockRoutes(ctx.virtualClock) : {}
  addRoutes(app, ctx, Object.entries({ ...routes, ...aliases, ...testRoutes }))
  app.use(serveDashboard(builtDashboard, ctx.config.publicUrl, ctx.config.registrationCheckUrl))
  app.use(({ path }) => {
    const near = nearestPath(path)
    const hint = near === undefined ? '' : ` Did you mean ${near}?`
    throw new AppError('not_found', `There is no such path.${hint} /api/docs lists all paths.`)
  })
  app.use(problemHandler(ctx))
  return app
}

/** Returns the path whose last word is most like the last word of a wrong path. */
function nearestPath(wrong: string): string | undefined {
  const lastWord = (path: string) => path.split('/').findLast(word => word !== '') ?? ''
  const paths = Object.keys(routes).filter(path => !path.includes(':'))
  const near = nearestName(lastWord(wrong), paths.map(lastWord))
  return paths.find(path => lastWord(path) === near)
}
