import { problems } from '@belfry/contract/problem'
import { readQstashSigningKeys, rotateQstashSigningKeys } from '@belfry/db/qstash/signing-keys'
import type { AppError, AppErrorCode } from '@belfry/domain/app-error'
import { type ActionIn, decide } from '@belfry/domain/permissions'
import { type Response, Router } from 'express'
import { audit } from '../audit/audit.ts'
import type { Allowed } from '../auth/authorize.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { addRoutes, type Endpoint, endpoint, type Methods } from '../endpoint.ts'
import { problemHandler } from '../http/problem.ts'
import { notFound } from '../http/refusals.ts'
import { ok, type Reply } from '../http/reply.ts'
import type { Call } from './call.ts'
import {
  deleteDeadLetter,
  deleteDeadLetters,
  getDeadLetter,
  listDeadLetters,
  retryDeadLetter,
  retryDeadLetters,
} from './dead-letters.ts'
import { listEvents, listLogs } from './events.ts'
import {
  getFlowControl,
  getGlobalParallelism,
  listFlowControl,
  pauseFlowControl,
  pinFlowControl,
  resetRate,
  resumeFlowControl,
  unpinFlowControl,
} from './flow-control.ts'
import { cancelMessage, cancelMessages, getMessage } from './messages.ts'
import { publishBatch, publishMessage } from './publish/publish-messages.ts'
import { notOffered, QstashError } from './qstash-error.ts'
import { deleteQueue, getQueue, listQueues, pauseQueue, resumeQueue, upsertQueue } from './queues.ts'
import {
  createSchedule,
  deleteSchedule,
  getSchedule,
  listSchedules,
  pauseSchedule,
  resumeSchedule,
} from './schedules.ts'
import { acceptToken } from './token.ts'
import { addEndpoints, deleteUrlGroup, getUrlGroup, listUrlGroups, removeEndpoints } from './url-groups.ts'

/**
 * The endpoints below `/v2`. In an expression the rest is a destination, which must stay as it was sent, with its double slashes,
 * its escapes and its query.
 */
export const qstashRoutes: ReadonlyArray<readonly [string | RegExp, Methods]> = [
  [/^\/publish\/./, { post: on('task.create', publishMessage) }],
  [/^\/enqueue\/([^/]+)\/./, { post: on('task.create', publishMessage) }],
  ['/batch', { post: on('task.create', publishBatch) }],
  ['/messages', { delete: on('task.delete', cancelMessages) }],
  ['/messages/:id', { get: on('task.read', getMessage), delete: on('task.delete', cancelMessage) }],
  ['/schedules', { get: on('cron_job.read', listSchedules) }],
  [
    '/schedules/:id',
    {
      get: on('cron_job.read', getSchedule),
      delete: on('cron_job.delete', deleteSchedule),
      post: on('cron_job.write', createSchedule),
    },
  ],
  ['/schedules/:id/pause', { patch: on('cron_job.write', pauseSchedule), post: on('cron_job.write', pauseSchedule) }],
  [
    '/schedules/:id/resume',
    { patch: on('cron_job.write', resumeSchedule), post: on('cron_job.write', resumeSchedule) },
  ],
  [/^\/schedules\/./, { post: on('cron_job.write', createSchedule) }],
  ['/queues', { get: on('queue.read', listQueues), post: on('queue.write', upsertQueue) }],
  ['/queues/:name', { get: on('queue.read', getQueue), delete: on('queue.delete', deleteQueue) }],
  ['/queues/:name/pause', { post: on('queue.write', pauseQueue) }],
  ['/queues/:name/resume', { post: on('queue.write', resumeQueue) }],
  ['/topics', { get: on('subscription.read', listUrlGroups) }],
  ['/topics/:name', { get: on('subscription.read', getUrlGroup), delete: on('subscription.delete', deleteUrlGroup) }],
  [
    '/topics/:name/endpoints',
    { post: on('subscription.write', addEndpoints), delete: on('subscription.delete', removeEndpoints) },
  ],
  ['/dlq', { get: on('dead_letter.read', listDeadLetters), delete: on('dead_letter.discard', deleteDeadLetters) }],
  ['/dlq/retry', { post: on('dead_letter.replay', retryDeadLetters) }],
  ['/dlq/retry/:id', { post: on('dead_letter.replay', retryDeadLetter) }],
  ['/dlq/:id', { get: on('dead_letter.read', getDeadLetter), delete: on('dead_letter.discard', deleteDeadLetter) }],
  ['/events', { get: on('run.read', listEvents) }],
  ['/logs', { get: on('run.read', listLogs) }],
  ['/flowControl', { get: on('queue.read', listFlowControl) }],
  ['/flowControl/:key', { get: on('queue.read', getFlowControl) }],
  ['/flowControl/:key/pause', { post: on('queue.write', pauseFlowControl) }],
  ['/flowControl/:key/resume', { post: on('queue.write', resumeFlowControl) }],
  ['/flowControl/:key/pin', { post: on('queue.write', pinFlowControl) }],
  ['/flowControl/:key/unpin', { post: on('queue.write', unpinFlowControl) }],
  ['/flowControl/:key/resetRate', { post: on('queue.write', resetRate) }],
  ['/globalParallelism', { get: on('queue.read', getGlobalParallelism) }],
  ['/keys', { get: on('signing_secret.read', getKeys) }],
  ['/keys/rotate', { post: on('signing_secret.rotate', rotateKeys) }],
]

/** Serves the QStash interface, and refuses what QStash has and Belfry does not. */
export function qstash(ctx: Context, config: NonNullable<Config['qstash']>): Router {
  const router = Router()
  router.use(async (request, _response, next) => {
    if (request.baseUrl !== '/v2') {
      throw notOffered('Belfry has no language models: publish to the URL of the provider.')
    }
    if (workflowPath.test(request.path)) throw notOffered('Belfry does not run Upstash Workflow.')
    await acceptToken(ctx, config, request)
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

/** Makes an endpoint. The reference does not describe it. */
function on<R extends ActionIn<'workspace'>>(right: R, handle: (call: Call<R>) => Promise<Reply>): Endpoint {
  return endpoint(
    { right, summary: '', answer: { status: 200 } },
    {
      handle(ctx, { caller, request }) {
        const [name = ''] = Object.values(request.params)
        const query = new URLSearchParams(request.originalUrl.split('?').slice(1).join('?'))
        return handle({ ctx, caller: caller as Allowed<R>, request, name: String(name), query })
      },
    },
  )
}

const statuses: Partial<Record<AppErrorCode, number>> = { quota_exceeded: 412, queue_in_use: 412 }

function presentRefusal(_: Context, refusal: AppError, response: Response): Reply {
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

/** `GET /v2/keys` */
async function getKeys({ ctx, caller: { workspaceId } }: Call<'signing_secret.read'>): Promise<Reply> {
  const keys = (await readQstashSigningKeys(ctx.pool, ctx.config.masterKeys, [workspaceId])).get(workspaceId)
  if (!keys) throw notFound()
  return ok(keys)
}

/** `POST /v2/keys/rotate` */
async function rotateKeys({ ctx, caller }: Call<'signing_secret.rotate'>): Promise<Reply> {
  const record: Parameters<typeof rotateQstashSigningKeys>[3] = tx =>
    audit(tx, caller, { action: 'signing_secret.rotated', objectId: 'qstash' })
  const keys = await rotateQstashSigningKeys(ctx.pool, ctx.config.masterKeys, caller.workspaceId, record)
  if (!keys) throw notFound()
  return decide(caller.actor, 'signing_secret.read').allowed ? ok(keys) : { status: 200 }
}
