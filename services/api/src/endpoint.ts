import { type Brief, briefFormOf } from '@belfry/contract/brief-forms'
import { compile } from '@belfry/contract/compile'
import { parseInput } from '@belfry/contract/field-errors'
import {
  currentWorkspace,
  type Declaration,
  type Operation,
  type PathParameter,
  pathIds,
  pathParameters,
  type Right,
} from '@belfry/contract/operation'
import type { KeyedRequest } from '@belfry/db/answer-once'
import type { Db } from '@belfry/db/postgres/in-transaction'
import { scopeTo } from '@belfry/db/postgres/scope-to'
import { AppError, type FieldError, invalid, notFound } from '@belfry/domain/app-error'
import { fromId, type IdKind, NIL_UUID } from '@belfry/domain/id'
import { type ActionIn, decide } from '@belfry/domain/permissions'
import { toJsonText } from '@belfry/present/raw-json'
import { failpoint } from '@belfry/runtime'
import type { IRouter, Request, Response } from 'express'
import type { z } from 'zod'
import { authorize, authorizeAgain, type CallerOf, type WorkspaceCaller } from './auth/authorize.ts'
import type { Context } from './context.ts'
import { type RunCreation, readKeyedRequest, runOnce } from './http/idempotency.ts'
import { type BodyLimits, bodyLimits, readJsonBody } from './http/read-body.ts'
import { recheckMs } from './http/repeat-check.ts'
import { ApiResponse, type ResponseParts, sendResponse } from './http/response.ts'
import { readsOfReplica, recordWrite } from './read-replica.ts'

/**
 * An operation that an endpoint serves. Operations that the reference omits are declared without a method, and some
 * without a path.
 */
type Served = Declaration & { path?: string }

type OutputOf<S> = S extends z.ZodType ? z.output<S> : undefined
type Member<O, Name extends string> = O extends { [N in Name]: infer Value } ? Value : undefined
// Any of its rights admits a caller.
type RightOf<O extends Served> = O['right'] | (O extends { orRights: ReadonlyArray<infer R extends Right> } ? R : never)
type Parameter<O> = O extends { path: infer P extends string } ? PathParameter<P> : never

export type Input<O extends Served> = {
  caller: CallerOf<RightOf<O>>
  /** Path parameters: ids in the form of the database, and texts. */
  params: Record<Parameter<O>, string>
  query: OutputOf<Member<O, 'query'>>
  body: OutputOf<Member<O, 'body'>>
  /** The body as it was sent. */
  bodyText: string
  request: Request
  /** When the request arrived, by the database's clock, in epoch milliseconds. */
  arrivedAt: number
}

/** Returns errors in a body that its schema cannot find. */
export type Inspect = (ctx: Context, body: unknown, schemaErrors: FieldError[]) => FieldError[]

/** What a handler returns: the declared body, null for an object that does not exist, or more than is declared. */
type Answer<O extends Served> = O['response'] extends { body: infer S extends z.ZodType }
  ? Promise<z.output<S> | null | ApiResponse>
  : Promise<void> | Promise<ApiResponse>

type Handle<O extends Served> = (ctx: Context, input: Input<O>) => Answer<O>

type Handler<O extends Served> = {
  /** Limits of the body. Default `bodyLimits`. */
  limits?: BodyLimits
  /** Returns errors in the body that a schema cannot find; reported together with the schema's errors. */
  inspect?: Inspect
  handle: Handle<O>
}

export type Endpoint = Declaration & {
  serve: (ctx: Context, request: Request, response: Response) => Promise<void>
}

/** Serves an operation: authenticates the caller, parses the request, handles it and sends the response. */
export function endpoint<const O extends Served>(operation: O, given: Handle<O> | Handler<O>): Endpoint {
  const handler: Handler<O> = typeof given === 'function' ? { handle: given } : given
  const { limits = bodyLimits, inspect = () => [], handle } = handler
  const { right, orRights, query: querySchema, mayLag = false } = operation as Served
  const brief = briefFormOf(operation.response.body, right)
  // Parses a valid body in one function. The first request generates it: to generate all of them would take a fifth of
  // the start-up time. The schema itself parses an invalid body again to report its errors.
  let compiled: z.ZodType | undefined
  const kinds: Readonly<Record<string, IdKind>> = pathIds
  const parameters = pathParameters(operation.path ?? '').map((name): PathPart => [name, kinds[name]])
  const hasWorkspace = parameters.some(([, kind]) => kind === 'ws')
  return {
    async serve(ctx, request, response) {
      const arrivedAt = ctx.clock.now()
      const params = readParams(request, parameters)
      let caller = await authorize(ctx, request, right, params, orRights)
      // PostgreSQL has no text with NUL, so no object has such a name.
      if (Object.values(request.params).join().includes('\0')) throw notFound()
      if (hasWorkspace && caller !== null && 'workspaceId' in caller) Object.assign(params, { ws: caller.workspaceId })
      const query = querySchema && parseInput(querySchema, request.query)
      if (query?.ok === false) throw invalid('query', query.errors)
      if (operation.body) compiled ??= compile(operation.body)
      const askedAt = performance.now()
      const { value, text } = compiled
        ? await readBody(ctx, request, response, compiled, limits, inspect)
        : { value: undefined, text: '' }
      if (performance.now() - askedAt > recheckMs) {
        caller = await authorizeAgain(ctx, request, right, params, orRights)
      }
      const scoped = scopeReads(ctx, request, caller, mayLag)
      // The declaration gives the types of the caller, the query and the body.
      const input = { caller, params, query: query?.value, body: value, bodyText: text, request, arrivedAt } as Input<O>
      const handled = handle(scoped, input)
      const answer = await (ctx.readReplica ? handled.finally(() => recordWrite(ctx, request, caller)) : handled)
      await sendResponse(response, presentFor(caller, partsOf(operation, answer), brief))
    },
    ...operation,
  }
}

function partsOf({ response: { status } }: Served, result: unknown): ResponseParts {
  if (result instanceof ApiResponse) return result.parts
  if (result === null) throw notFound()
  return { status, body: result }
}

// The kind of an id; undefined for a text.
type PathPart = readonly [name: string, kind: IdKind | undefined]

// Also for a response that was kept for an Idempotency-Key, since the caller before may have had other rights.
function presentFor(caller: CallerOf<Right>, parts: ResponseParts, brief: Brief | undefined): ResponseParts {
  if (!brief || !caller || !('actor' in caller)) return parts
  const { status, headers, body } = parts
  const right = typeof brief.right === 'string' ? brief.right : brief.right(body as never) // of the whole body
  if (decide(caller.actor, right).allowed) return parts
  return { status, headers, body: brief.body.parse(JSON.parse(toJsonText(body))) }
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

export type Methods = Partial<Record<Method, Endpoint>>

/** Serves endpoints at paths. A path that Express must not decode is an expression. */
export function addRoutes(to: IRouter, ctx: Context, routes: ReadonlyArray<readonly [string | RegExp, Methods]>): void {
  for (const [path, methods] of routes) {
    const route = to.route(path)
    for (const [method, endpoint] of Object.entries(methods)) {
      route[method as Method](async (request, response) => endpoint.serve(ctx, request, response))
    }
    const allowed = Object.keys(methods).join(', ').toUpperCase()
    route.all((_request, response) => {
      response.setHeader('Allow', allowed)
      throw new AppError('method_not_allowed', `This path supports ${allowed}.`)
    })
  }
}

// Defense in depth: in tables with row-level security a read sees only rows of its caller's tenant. Writes, e.g. the
// creation of tasks, skip it for speed.
function scopeReads(ctx: Context, request: Request, caller: CallerOf<Right>, mayLag: boolean): Context {
  if (request.method !== 'GET' || caller === null || !('organizationId' in caller)) return ctx
  const primary = scopeTo(ctx.pool, caller)
  return Object.assign(Object.create(ctx), { primary, pool: mayLag ? readsOfReplica(ctx, request, caller) : primary })
}

// A malformed id becomes the nil UUID, and so gets the response to an unknown id. `current` is the workspace of the API
// key, or of X-Workspace-Id.
function readParams(request: Request, parameters: readonly PathPart[]): Record<string, string> {
  const params: Record<string, string> = {}
  for (const [name, kind] of parameters) {
    const text = String(request.params[name])
    if (kind === 'ws' && text === currentWorkspace) continue
    params[name] = kind === undefined ? text : (fromId(kind, text) ?? NIL_UUID)
  }
  return params
}

async function readBody(
  ctx: Context,
  request: Request,
  response: Response,
  schema: z.ZodType,
  limits: BodyLimits,
  inspect: Inspect,
): Promise<{ value: unknown; text: string }> {
  const { text, value } = await readJsonBody(request, response, limits)
  const result = parseInput(schema, value)
  const schemaErrors = result.ok ? [] : result.errors
  const errors = schemaErrors.concat(inspect(ctx, value, schemaErrors))
  if (result.ok && errors.length === 0) return { value: result.value, text }
  throw invalid('body', errors)
}

/**
 * The context of a creation. With an `Idempotency-Key`, `db` is a transaction that also stores the response: everything that
 * the creation writes has to go through it.
 */
export type Work = Omit<Context, 'pool'> & {
  db: Db
  /** Set when the creation has to store its response in the same statement as what it creates; see `storesResponse`. */
  keyed: KeyedRequest | null
  /** Runs `act` once the creation is committed. */
  afterCommit(act: (ctx: Context) => void): void
}

/** Returns the context of a creation without an `Idempotency-Key`. */
export function workOf(ctx: Context): Work {
  const own: Pick<Work, 'db' | 'keyed' | 'afterCommit'> = { db: ctx.pool, keyed: null, afterCommit: act => act(ctx) }
  return Object.assign(Object.create(ctx), own)
}

type Create<O extends Served> = (work: Work, input: Input<O>) => Promise<ApiResponse>

type Creation<O extends Served> = Omit<Handler<O>, 'handle'> & {
  /** Whether the creation of such a body stores its response when `keyed` is set. Default false. */
  storesResponse?: (body: Input<O>['body']) => boolean
  handle: Create<O>
}

type InWorkspace = Operation & { right: ActionIn<'workspace'>; isIdempotent: true }

/** Serves an operation that creates something. Repeated with the same `Idempotency-Key`, it repeats its first response. */
export function creation<const O extends InWorkspace>(operation: O, given: Create<O> | Creation<O>): Endpoint {
  const definition: Creation<O> = typeof given === 'function' ? { handle: given } : given
  const { storesResponse = () => false } = definition
  const handle = async (ctx: Context, input: Input<O>): Promise<ApiResponse> => {
    const key = input.request.headers['idempotency-key']
    const { workspaceId } = input.caller as WorkspaceCaller // by the type of the operation
    const request = key === undefined ? null : readKeyedRequest(input.request, key, workspaceId, input.bodyText)
    let acts: Array<(ctx: Context) => void> = []
    const run: RunCreation = (db, keyed) => {
      acts = []
      const own = { db, keyed, afterCommit: (act: (ctx: Context) => void) => void acts.push(act) }
      return definition.handle(Object.assign(Object.create(ctx), own), input)
    }
    const response =
      request === null ? await run(ctx.pool, null) : await runOnce(ctx, request, run, storesResponse(input.body))
    if (__FAILPOINTS__) await failpoint('api.after_commit')
    for (const act of acts) act(ctx)
    if (__FAILPOINTS__) await failpoint('api.after_enqueue')
    return response
  }
  // Any operation may be answered with a response.
  return endpoint(operation, Object.assign({}, definition, { handle: handle as Handle<O> }))
}
