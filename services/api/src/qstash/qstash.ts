import { problems } from '@belfry/contract/problem'
import type { ActionIn } from '@belfry/domain/permissions'
import type { Request, RequestHandler, Response } from 'express'
import { authorize } from '../auth/authorize.ts'
import type { Config } from '../config.ts'
import type { Context } from '../context.ts'
import { toRefusal } from '../http/problem.ts'
import { type Reply, sendReply } from '../http/reply.ts'
import { requestIdOf } from '../http/request-log.ts'
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
import { getKeys, rotateKeys } from './keys.ts'
import { cancelMessage, cancelMessages, getMessage } from './messages.ts'
import { batch } from './publish/batch.ts'
import { enqueueMessage, publishMessage } from './publish/publish-message.ts'
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
import { readToken } from './token.ts'
import { addEndpoints, deleteUrlGroup, getUrlGroup, listUrlGroups, removeEndpoints } from './url-groups.ts'

type Route = {
  method: string
  path: RegExp
  right: ActionIn<'workspace'>
  handle: (call: Call) => Promise<Reply>
}

// A path with fewer variable parts comes before a path with more that it matches too.
const routes: readonly Route[] = [
  route('POST', '/v2/publish/*', 'task.create', publishMessage),
  route('POST', '/v2/enqueue/:/*', 'task.create', enqueueMessage),
  route('POST', '/v2/batch', 'task.create', batch),
  route('GET', '/v2/messages/:', 'task.read', getMessage),
  route('DELETE', '/v2/messages/:', 'task.delete', cancelMessage),
  route('DELETE', '/v2/messages', 'task.delete', cancelMessages),
  route('GET', '/v2/schedules', 'cron_job.read', listSchedules),
  route('GET', '/v2/schedules/:', 'cron_job.read', getSchedule),
  route('DELETE', '/v2/schedules/:', 'cron_job.delete', deleteSchedule),
  ...['PATCH', 'POST'].flatMap(method => [
    route(method, '/v2/schedules/:/pause', 'cron_job.write', pauseSchedule),
    route(method, '/v2/schedules/:/resume', 'cron_job.write', resumeSchedule),
  ]),
  route('POST', '/v2/schedules/*', 'cron_job.write', createSchedule),
  route('POST', '/v2/queues', 'queue.write', upsertQueue),
  route('GET', '/v2/queues', 'queue.read', listQueues),
  route('GET', '/v2/queues/:', 'queue.read', getQueue),
  route('DELETE', '/v2/queues/:', 'queue.delete', deleteQueue),
  route('POST', '/v2/queues/:/pause', 'queue.write', pauseQueue),
  route('POST', '/v2/queues/:/resume', 'queue.write', resumeQueue),
  route('GET', '/v2/topics', 'subscription.read', listUrlGroups),
  route('GET', '/v2/topics/:', 'subscription.read', getUrlGroup),
  route('DELETE', '/v2/topics/:', 'subscription.delete', deleteUrlGroup),
  route('POST', '/v2/topics/:/endpoints', 'subscription.write', addEndpoints),
  route('DELETE', '/v2/topics/:/endpoints', 'subscription.delete', removeEndpoints),
  route('GET', '/v2/dlq', 'dead_letter.read', listDeadLetters),
  route('DELETE', '/v2/dlq', 'dead_letter.discard', deleteDeadLetters),
  route('POST', '/v2/dlq/retry', 'dead_letter.replay', retryDeadLetters),
  route('POST', '/v2/dlq/retry/:', 'dead_letter.replay', retryDeadLetter),
  route('GET', '/v2/dlq/:', 'dead_letter.read', getDeadLetter),
  route('DELETE', '/v2/dlq/:', 'dead_letter.discard', deleteDeadLetter),
  route('GET', '/v2/events', 'run.read', listEvents),
  route('GET', '/v2/logs', 'run.read', listLogs),
  route('GET', '/v2/flowControl', 'queue.read', listFlowControl),
  route('GET', '/v2/flowControl/:', 'queue.read', getFlowControl),
  route('POST', '/v2/flowControl/:/pause', 'queue.write', pauseFlowControl),
  route('POST', '/v2/flowControl/:/resume', 'queue.write', resumeFlowControl),
  route('POST', '/v2/flowControl/:/pin', 'queue.write', pinFlowControl),
  route('POST', '/v2/flowControl/:/unpin', 'queue.write', unpinFlowControl),
  route('POST', '/v2/flowControl/:/resetRate', 'queue.write', resetRate),
  route('GET', '/v2/globalParallelism', 'queue.read', getGlobalParallelism),
  route('GET', '/v2/keys', 'signing_secret.read', getKeys),
  route('POST', '/v2/keys/rotate', 'signing_secret.rotate', rotateKeys),
]

/**
 * Serves the QStash interface. It reads the path itself, because a destination in it must stay as it was sent, with its
 * double slashes, its escapes and its query.
 */
export function qstash(ctx: Context, config: NonNullable<Config['qstash']>): RequestHandler {
  return async (request, response) => {
    try {
      await sendReply(response, await serve(ctx, config, request, response))
    } catch (error) {
      await refuse(ctx, error, request, response)
    }
  }
}

async function serve(
  ctx: Context,
  config: NonNullable<Config['qstash']>,
  request: Request,
  response: Response,
): Promise<Reply> {
  const [path = '', search = ''] = splitAtFirst(request.originalUrl, '?')
  if (workflowPath.test(path)) throw notOffered('Belfry does not run Upstash Workflow.')
  if (path.startsWith('/llm/')) throw notOffered('Belfry has no language models: publish to the URL of the provider.')
  const found = routes.flatMap(route => {
    const match = route.path.exec(path)
    return match ? [{ route, match }] : []
  })
  const { route, match } = found.find(({ route }) => route.method === request.method) ?? {}
  if (!route || !match)
    throw new QstashError(found.length > 0 ? 405 : 404, `${request.method} is not served at this path`)
  const hasDestination = route.path.source.endsWith('(.+)$')
  const token = await readToken(ctx, config, request, search)
  request.headers['x-api-key'] = token.apiKey
  const caller = await authorize(ctx, request, route.right, {})
  const last = match.length - 1
  const params = match.slice(1).map((text, i) => {
    return hasDestination && i === last - 1 ? withQuery(text, token.search) : decodeURIComponent(text)
  })
  const query = new URLSearchParams(hasDestination ? '' : token.search)
  return route.handle({ ctx, caller, request, response, params, query })
}

function withQuery(path: string, search: string): string {
  return search === '' ? path : `${path}?${search}`
}

function splitAtFirst(text: string, separator: string): string[] {
  const at = text.indexOf(separator)
  return at === -1 ? [text] : [text.slice(0, at), text.slice(at + 1)]
}

const workflowPath = /^\/v2\/(workflows|wait|notify|waiters)(\/|$)/

/** Makes a route. In a path, `:` is one segment and `*` is the rest, which is a destination. */
function route(method: string, path: string, right: ActionIn<'workspace'>, handle: Route['handle']): Route {
  const form = path.replace(/:/g, '([^/]+)').replace(/\*$/, '(.+)')
  return { method, path: new RegExp(`^${form}$`), right, handle }
}

/** Sends an error in the form of QStash. */
async function refuse(ctx: Context, error: unknown, request: Request, response: Response): Promise<void> {
  const { status, message, headers } = toQstashError(ctx, error, response)
  if (response.headersSent) {
    response.destroy()
    return
  }
  // The rest of an unread body must not be parsed as the next request.
  if (!request.complete) response.setHeader('Connection', 'close')
  await sendReply(response, { status, body: { error: message }, headers: { ...headers } })
}

function toQstashError(ctx: Context, error: unknown, response: Response): QstashError {
  if (error instanceof QstashError) return error
  const refusal = toRefusal(error)
  const { code, errors } = refusal
  ctx.metrics.refused(code)
  if (code === 'internal') ctx.log.error({ err: error, request: requestIdOf(response) }, 'request.fault')
  if (code === 'unavailable') ctx.log.warn({ err: error }, 'request.unavailable')
  const details = errors?.map(({ path, message }) => `${path}: ${message}`).join(' ')
  const status = code === 'quota_exceeded' ? 412 : problems[code].status
  return new QstashError(status, details || refusal.message, code === 'rate_limited' ? burstHeaders(response) : {})
}

// The client takes a 429 with RateLimit-Limit for a daily limit.
function burstHeaders(response: Response): Record<string, string> {
  const limit = /q=(\d+)/.exec(String(response.getHeader('RateLimit-Policy')))?.[1] ?? '0'
  const reset = String(Math.ceil(Date.now() / 1000) + 1)
  return { 'Burst-RateLimit-Limit': limit, 'Burst-RateLimit-Remaining': '0', 'Burst-RateLimit-Reset': reset }
}
