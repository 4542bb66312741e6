import { parseJson } from '@belfry/domain/json-text'
import type { ActionIn } from '@belfry/domain/permissions'
import type { Request } from 'express'
import { z } from 'zod'
import { type Allowed, authorizeAgain } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { type Endpoint, endpoint, type Methods } from '../endpoint.ts'
import { hasBody, readBytes } from '../http/read-body.ts'
import { recheckMs } from '../http/repeat-check.ts'
import { badRequest } from './qstash-error.ts'

/** A request of the QStash interface whose caller has the right `R`, or one of several. */
export type Call<R extends ActionIn<'workspace'> = ActionIn<'workspace'>> = {
  ctx: Context
  /** The right that the endpoint requires. */
  right: ActionIn<'workspace'>
  caller: Allowed<R>
  request: Request
  /** The id or the name in the path; empty for a path without one. */
  name: string
  query: URLSearchParams
}

export type QstashRoutes = ReadonlyArray<readonly [string | RegExp, Methods]>

/**
 * Makes an endpoint that the reference does not describe. Its answer is the body, or null for an object that does not
 * exist.
 */
export function on<R extends ActionIn<'workspace'>>(right: R, handle: (call: Call<R>) => Promise<unknown>): Endpoint {
  return endpoint({ right, summary: '', response: { status: 200, body: z.unknown() } }, (ctx, { caller, request }) => {
    const [name = ''] = Object.values(request.params)
    const query = new URLSearchParams(request.originalUrl.split('?').slice(1).join('?'))
    return handle({ ctx, right, caller: caller as Allowed<R>, request, name: String(name), query })
  })
}

/** One message. `destination` as it was sent; `queue`: the queue in the path or the batch. */
export type Publication = {
  destination: string
  /** Names in lower case. */
  headers: Readonly<Record<string, string>>
  body: Buffer
  queue?: string | undefined
}

const maxBodyBytes = 1024 * 1024

/** Reads the message of a request, whose destination is the rest of its path and its query. */
export async function readPublication(call: Call): Promise<Publication> {
  const { request } = call
  return {
    destination: request.originalUrl.replace(/^\/v2\/(?:enqueue\/[^/]+|[^/]+)\//, ''),
    headers: Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)])),
    body: await readBody(call),
  }
}

/** Reads a JSON body of any type. */
export async function readJson(call: Call, maxBytes = maxBodyBytes): Promise<unknown> {
  const value = parseJson((await readBody(call, maxBytes)).toString())
  if (value === undefined) throw badRequest('the body is not valid JSON')
  return value
}

async function readBody({ ctx, right, request }: Call, maxBytes = maxBodyBytes): Promise<Buffer> {
  if (!request.res) throw new Error('The request has no response.')
  const askedAt = performance.now()
  const body = await readBytes(request, request.res, maxBytes)
  if (performance.now() - askedAt > recheckMs) await authorizeAgain(ctx, request, right)
  return body
}

/**
 * Returns the filters of a request that acts on many objects: its query parameters, and the members of a JSON body.
 * Some clients send a body instead of a query.
 */
export async function readFilters(call: Call): Promise<URLSearchParams> {
  const filters = new URLSearchParams(call.query)
  const body = hasBody(call.request) ? await readJson(call) : {}
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    throw badRequest('the body is not a JSON object')
  for (const [name, value] of Object.entries(body)) {
    const values = [value].flat()
    // An empty list would match all objects.
    if (values.length === 0) throw badRequest(`${name} is an empty list`)
    for (const one of values) filters.append(name, String(one))
  }
  return filters
}
