import { parseInput } from '@belfry/contract/field-errors'
import type { KeyedRequest } from '@belfry/db/answer-once'
import type { Db } from '@belfry/db/postgres/in-transaction'
import { scopeTo } from '@belfry/db/postgres/scope-to'
import { AppError, type AppErrorCode, type FieldError } from '@belfry/domain/app-error'
import { fromId, type IdKind, NIL_UUID } from '@belfry/domain/id'
import { type ActionIn, decide } from '@belfry/domain/permissions'
import { toJsonText } from '@belfry/present/raw-json'
import { failpoint } from '@belfry/runtime'
import type { IRouter, Request, Response } from 'express'
import { z } from 'zod'
import { authorize, type CallerOf, type Right } from './auth/authorize.ts'
import type { Context } from './context.ts'
import { type RunCreation, readKeyedRequest, runOnce } from './http/idempotency.ts'
import { type BodyLimits, bodyLimits, readJsonBody } from './http/read-body.ts'
import { invalid } from './http/refusals.ts'
import { type Reply, sendReply } from './http/reply.ts'
import { readsOfReplica, recordWrite } from './read-replica.ts'

/** The input of an endpoint's handler. */
export type Input<R extends Right, Body, Query, Params extends string> = {
  caller: CallerOf<R>
  /** Path parameters, as database ids. */
  params: Record<Params, string>
  query: Query
  body: Body
  /** The body as it was sent. */
  bodyText: string
  request: Request
  /** When the request arrived, by the database's clock, in epoch milliseconds. */
  arrivedAt: number
}

/** Stands for the id of the caller's workspace in a path. */
export const currentWorkspace = 'current'

type Inspect = (ctx: Context, body: unknown, schemaErrors: FieldError[]) => FieldError[]

export type Definition<R extends Right, Body, Query, Params extends string> = {
  /** The right that a caller needs, `signed_in` for any user, or `public`. */
  right: R
  /** Other rights that also admit a caller. The handler asks for the right that the request needs. */
  orRights?: readonly R[]
  /** Describes the endpoint in the reference, in a few words. */
  summary: string
  /** The response to a successful request. */
  answer: Answer
  /** Refusals in addition to those that follow from the right, the parameters and the body. */
  refusals?: readonly AppErrorCode[]
  /** The kind of id in each path parameter. A malformed id gets the same response as an unknown one. */
  params?: Record<Params, IdKind>
  query?: z.ZodType<Query>
  body?: z.ZodType<Body>
  /** Limits of the body. Default `bodyLimits`. */
  limits?: BodyLimits
  /** Returns errors in the body that a schema cannot find; reported together with the schema's errors. */
  inspect?: Inspect
  /** Whether it accepts an `Idempotency-Key`. Default false. */
  isIdempotent?: boolean
  /** Whether it may read from a replica, whose data is up to some seconds old. Default false. */
  mayLag?: boolean
  handle: (ctx: Context, input: Input<R, Body, Query, Params>) => Promise<Reply>
}

/** The status of a response and the schema of its body; without a schema there is no body. */
export type Answer = {
  status: number
  /** A second status with the same body. */
  orStatus?: number
  body?: z.ZodType
  /** What a caller without a right gets instead of the whole body. */
  brief?: Brief
  /** Whether it begins or ends the session of a browser. */
  setsCookie?: boolean
  /** Media types of text responses, in addition to JSON or instead of it. */
  texts?: readonly string[]
}

/** The part of a body that a caller without `right` gets. `body` is a schema that strips what it does not name. */
export type Brief = { right: ActionIn<'workspace'>; body: z.ZodType }

export type Endpoint = {
  right: Right
  summary: string
  answer: Answer
  refusals: readonly AppErrorCode[]
  params: Readonly<Record<string, IdKind>>
  query: z.ZodType | undefined
  body: z.ZodType | undefined
  isIdempotent: boolean
  mayLag: boolean
  serve: (ctx: Context, request: Request, response: Response) => Promise<void>
}

/** Makes an endpoint: authenticates the caller, parses the request, handles it and sends the response. */
export function endpoint<R extends Right, Body = undefined, Query = undefined, Params extends string = never>(
  definition: Definition<R, Body, Query, Params>,
): Endpoint {
  const { limits = bodyLimits, inspect = () => [] } = definition
  // Parses a valid body in one function, which the first request generates: all of them would take a fifth of the start. The
  // schema itself parses an invalid body again to report its errors.
  let compiled: z.ZodType<Body> | undefined
  const kindOf: Readonly<Record<string, IdKind>> = definition.params ?? {}
  const kinds = Object.entries(kindOf)
  return {
    right: definition.right,
    summary: definition.summary,
    answer: definition.answer,
    refusals: definition.refusals ?? [],
    params: definition.params ?? {},
    query: definition.query,
    body: definition.body,
    isIdempotent: definition.isIdempotent ?? false,
    mayLag: definition.mayLag ?? false,
    async serve(ctx, request, response) {
      const arrivedAt = ctx.clock.now()
      const params = readParams<Params>(request, kinds)
      const caller = await authorize(ctx, request, definition.right, params, definition.orRights)
      if ('ws' in kindOf && caller !== null && 'workspaceId' in caller)
        Object.assign(params, { ws: caller.workspaceId })
      const query = definition.query ? readQuery(request, definition.query) : (undefined as Query)
      if (definition.body) compiled ??= z.compile(definition.body)
      const { value, text } = compiled
        ? await readBody(ctx, request, response, compiled, limits, inspect)
        : { value: undefined as Body, text: '' }
      const scoped = scopeReads(ctx, request, caller, definition.mayLag ?? false)
      const input = { caller, params, query, body: value, bodyText: text, request, arrivedAt }
      const handled = definition.handle(scoped, input)
      const reply = await (ctx.readReplica ? handled.finally(() => recordWrite(ctx, request, caller)) : handled)
      await sendReply(response, presentFor(caller, reply, definition.answer.brief))
    },
  }
}

// Also for a reply that was kept for an Idempotency-Key, since the caller before may have had other rights.
function presentFor(caller: CallerOf<Right>, reply: Reply, brief: Brief | undefined): Reply {
  if (!brief || !caller || !('actor' in caller) || decide(caller.actor, brief.right).allowed) return reply
  return Object.assign({}, reply, { body: brief.body.parse(JSON.parse(toJsonText(reply.body))) })
}

type Method = 'get' | 'post' | 'put' | 'patch' | 'delete'

/** The endpoints of a path. */
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

// A second net: in tables with row-level security a read sees only rows of its caller's tenant. Writes, among them the creation
// of tasks, cost nothing more.
function scopeReads(ctx: Context, request: Request, caller: CallerOf<Right>, mayLag: boolean): Context {
  if (request.method !== 'GET' || caller === null || !('organizationId' in caller)) return ctx
  const primary = scopeTo(ctx.pool, caller)
  return Object.assign(Object.create(ctx), { primary, pool: mayLag ? readsOfReplica(ctx, request, caller) : primary })
}

// A malformed id becomes the nil UUID, which gets the same response as an unknown id. `current` is the workspace of the
// API key, or of X-Workspace-Id.
function readParams<Params extends string>(
  request: Request,
  kinds: ReadonlyArray<readonly [name: string, kind: IdKind]>,
): Record<Params, string> {
  const ids: Record<string, string> = {}
  for (const [name, kind] of kinds) {
    if (kind === 'ws' && request.params[name] === currentWorkspace) continue
    ids[name] = fromId(kind, String(request.params[name])) ?? NIL_UUID
  }
  return ids as Record<Params, string> // the same names
}

function readQuery<Query>(request: Request, schema: z.ZodType<Query>): Query {
  const result = parseInput(schema, request.query)
  if (result.ok) return result.value
  throw invalid('query', result.errors)
}

async function readBody<Body>(
  ctx: Context,
  request: Request,
  response: Response,
  schema: z.ZodType<Body>,
  limits: BodyLimits,
  inspect: Inspect,
): Promise<{ value: Body; text: string }> {
  const { text, value } = await readJsonBody(request, response, limits)
  const result = parseInput(schema, value)
  const schemaErrors = result.ok ? [] : result.errors
  const errors = schemaErrors.concat(inspect(ctx, value, schemaErrors))
  if (result.ok && errors.length === 0) return { value: result.value, text }
  throw invalid('body', errors)
}

/**
 * The context of a creation. With an `Idempotency-Key`, `db` is a transaction that also stores the reply: everything that
 * the creation writes has to go through it.
 */
export type Work = Omit<Context, 'pool'> & {
  db: Db
  /** Set when the creation has to store its reply in the same statement as what it creates; see `storesReply`. */
  keyed: KeyedRequest | null
  /** Runs `act` once the creation is committed. */
  afterCommit(act: (ctx: Context) => void): void
}

/** Returns the context of a creation that stores nothing for an `Idempotency-Key`. */
export function workOf(ctx: Context): Work {
  const own: Pick<Work, 'db' | 'keyed' | 'afterCommit'> = { db: ctx.pool, keyed: null, afterCommit: act => act(ctx) }
  return Object.assign(Object.create(ctx), own)
}

export type Creation<R extends ActionIn<'workspace'>, Body, Query, Params extends string> = Omit<
  Definition<R, Body, Query, Params>,
  'handle'
> & {
  /** Whether the creation of such a body stores its reply when `keyed` is set. Default false. */
  storesReply?: (body: Body) => boolean
  handle: (work: Work, input: Input<R, Body, Query, Params>) => Promise<Reply>
}

/** Makes an endpoint that creates something. Repeated with the same `Idempotency-Key`, it repeats its first reply. */
export function creation<
  R extends ActionIn<'workspace'>,
  Body = undefined,
  Query = undefined,
  Params extends string = never,
>(definition: Creation<R, Body, Query, Params>): Endpoint {
  const { storesReply = () => false } = definition
  // biome-ignore lint/plugin: once for each endpoint
  return endpoint<R, Body, Query, Params>({
    ...definition,
    isIdempotent: true,
    async handle(ctx, input) {
      const key = input.request.headers['idempotency-key']
      const request =
        key === undefined ? null : readKeyedRequest(input.request, key, input.caller.workspaceId, input.bodyText)
      let acts: Array<(ctx: Context) => void> = []
      const run: RunCreation = (db, keyed) => {
        acts = []
        const own = { db, keyed, afterCommit: (act: (ctx: Context) => void) => void acts.push(act) }
        return definition.handle(Object.assign(Object.create(ctx), own), input)
      }
      const reply =
        request === null ? await run(ctx.pool, null) : await runOnce(ctx, request, run, storesReply(input.body))
      if (__FAILPOINTS__) await failpoint('api.after_commit')
      for (const act of acts) act(ctx)
      if (__FAILPOINTS__) await failpoint('api.after_enqueue')
      return reply
    },
  })
}
