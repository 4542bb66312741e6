import { problems } from '@belfry/contract/problem'
import { readQstashSigningKeys, rotateQstashSigningKeys } from '@belfry/db/qstash/signing-keys'
import { type AppError, type AppErrorCode, notFound } from '@belfry/domain/app-error'
import { decide } from '@belfry/domain/permissions'
import { type Response, Router } from 'express'
import { audit } from '../audit/audit.ts'
import type { Context } from '../context.ts'
import { addRoutes } from '../endpoint.ts'
import { problemHandler } from '../http/problem.ts'
import type { ResponseParts } from '../http/response.ts'
import { on, type QstashRoutes } from './call.ts'
import { deadLetterRoutes } from './dead-letters.ts'
import { eventRoutes } from './events.ts'
import { messageRoutes } from './messages.ts'
import { publishRoutes } from './publish/publish.ts'
import { notOffered, QstashError } from './qstash-error.ts'
import { flowControlRoutes, queueRoutes } from './queues.ts'
import { scheduleRoutes } from './schedules.ts'
import { acceptToken } from './token.ts'
import { urlGroupRoutes } from './url-groups.ts'

export const qstashRoutes: QstashRoutes = [
  ...publishRoutes,
  ...messageRoutes,
  ...scheduleRoutes,
  ...queueRoutes,
  ...urlGroupRoutes,
  ...deadLetterRoutes,
  ...eventRoutes,
  ...flowControlRoutes,
  [
    '/keys',
    {
      get: on('signing_secret.read', async ({ ctx, caller: { workspaceId } }) => {
        const keys = await readQstashSigningKeys(ctx.pool, ctx.config.masterKeys, [workspaceId])
        return keys.get(workspaceId) ?? null
      }),
    },
  ],
  [
    '/keys/rotate',
    {
      post: on('signing_secret.rotate', async ({ ctx, caller }) => {
        const keys = await rotateQstashSigningKeys(ctx.pool, ctx.config.masterKeys, caller.workspaceId, tx =>
          audit(tx, caller, 'signing_secret.rotated', 'qstash'),
        )
        return keys && !decide(caller.actor, 'signing_secret.read').allowed ? undefined : keys
      }),
    },
  ],
]

/** Serves the QStash interface, and refuses what QStash has and Belfry does not. */
export function qstash(ctx: Context): Router {
  const router = Router()
  router.use(async (request, _response, next) => {
    if (request.baseUrl !== '/v2') {
      throw notOffered('Belfry has no language models: publish to the URL of the provider.')
    }
    if (workflowPath.test(request.path)) throw notOffered('Belfry does not run Upstash Workflow.')
    await acceptToken(ctx, request)
    next()
  })
  addRoutes(router, ctx, qstashRoutes)
  router.use(() => {
    throw notFound()
  })
  router.use(problemHandler(ctx, presentRefusal))
  return router
}

const workflowPath = /^\/(workflows|wait|notify|waiters)(\/|$)/

const statuses: Partial<Record<AppErrorCode, number>> = { quota_exceeded: 412, queue_in_use: 412 }

function presentRefusal(_: Context, refusal: AppError, response: Response): ResponseParts {
  const { code, errors, message } = refusal
  const error = errors?.map(({ path, message }) => `${path}: ${message}`).join(' ') || message
  if (refusal instanceof QstashError) return { status: refusal.status, body: { error }, headers: refusal.headers }
  const headers = code === 'rate_limited' ? burstHeaders(response) : {}
  return { status: statuses[code] ?? problems[code].status, body: { error }, headers }
}

// The client takes a 429 with RateLimit-Limit for a daily limit.
function burstHeaders(response: Response): Record<string, string> {
  const limit = /q=(\d+)/.exec(String(response.getHeader('RateLimit-Policy')))?.[1] ?? '0'
  const reset = String(Math.ceil(Date.now() / 1000) + 1)
  return { 'Burst-RateLimit-Limit': limit, 'Burst-RateLimit-Remaining': '0', 'Burst-RateLimit-Reset': reset }
}
