import { type FieldError, parseInput } from '@belfry/contract'
import { AppError, type AppErrorCode, fromId, type IdKind } from '@belfry/domain'
import type { Request, Response } from 'express'
import { z } from 'zod'
import { authorize, type CallerOf, type Right } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { type BodyLimits, bodyLimits, readJsonBody } from './read-body.ts'
import type { Reply } from './reply.ts'
import { sendReply } from './send.ts'
import { invalid } from './refusals.ts'

/** What the handler of an endpoint gets. */
export type Input<R extends Right, Body, Query, Params extends string> = {
  caller: CallerOf<R>
  /** Path parameters, as database ids. */
  params: Record<Params, string>
  query: Query
  body: Body
  /** The body as it was sent. */
  bodyText: string
  request: Request
}

type Inspect = (ctx: Context, body: unknown, schemaErrors: FieldError[]) => FieldError[]

export type Definition<R extends Right, Body, Query, Params extends string> = {
  /** Who may call: the right that it takes, `signed_in` for any user, or `public`. */
  right: R
  /** What the endpoint does, in a few words for the reference. */
  summary: string
  /** What it answers when all is well. */
  answer: Answer
  /** The refusals that are its own, beyond those that its rights, parameters and body bring with them. */
  refusals?: readonly AppErrorCode[]
  /** The kind of id that each path parameter holds. One that is malformed is answered like one that is unknown. */
  params?: Record<Params, IdKind>
  query?: z.ZodType<Query>
  body?: z.ZodType<Body>
  /** What the body may be at most. Default `bodyLimits`. */
  limits?: BodyLimits
  /** Further faults of the body that a schema cannot know; told together with the schema's. */
  inspect?: Inspect
  /** Whether it takes an `Idempotency-Key`. Default false. */
  isIdempotent?: boolean
  handle: (ctx: Context, input: Input<R, Body, Query, Params>) => Promise<Reply>
}

/** The status of an answer and the shape of its body; without a shape there is no body. */
export type Answer = {
  status: number
  /** A second status with the same body. */
  orStatus?: number
  body?: z.ZodType
  /** Whether it begins or ends the session of a browser. */
  setsCookie?: boolean
  /** Media types of text that it answers, besides or instead of JSON. */
  texts?: readonly string[]
}

export type Endpoint = {
  right: Right
  summary: string
  answer: Answer
  refusals: readonly AppErrorCode[]
  params: Readonly<Record<string, IdKind>>
  query: z.ZodType | undefined
  body: z.ZodType | undefined
  isIdempotent: boolean
  serve: (ctx: Context, request: Request, response: Response) => Promise<void>
}

/** Makes an endpoint: authenticate, parse everything, handle, send. A handler sees only what its schemas let through. */
export function endpoint<R extends Right, Body = undefined, Query = undefined, Params extends string = never>(
  definition: Definition<R, Body, Query, Params>,
): Endpoint {
  const { limits = bodyLimits, inspect = () => [] } = definition
  // Reads a good body in one generated function; a bad one is read by the schema itself, which tells the faults.
  const bodySchema = definition.body && z.compile(definition.body)
  const kinds = Object.entries<IdKind>(definition.params ?? {})
  return {
    right: definition.right,
    summary: definition.summary,
    answer: definition.answer,
    refusals: definition.refusals ?? [],
    params: definition.params ?? {},
    query: definition.query,
    body: definition.body,
    isIdempotent: definition.isIdempotent ?? false,
    async serve(ctx, request, response) {
      const params = readParams<Params>(request, kinds)
      const caller = await authorize(ctx, request, definition.right, params)
      const query = definition.query ? readQuery(request, definition.query) : (undefined as Query)
      const { value, text } = bodySchema
        ? await readBody(ctx, request, response, bodySchema, limits, inspect)
        : { value: undefined as Body, text: '' }
      const reply = await definition.handle(ctx, { caller, params, query, body: value, bodyText: text, request })
      await sendReply(response, reply)
    },
  }
}

// A malformed id names nothing, and is answered like any other id that names nothing.
const nobody = '00000000-0000-0000-0000-000000000000'

function readParams<Params extends string>(
  request: Request,
  kinds: ReadonlyArray<readonly [name: string, kind: IdKind]>,
): Record<Params, string> {
  const ids: Record<string, string> = {}
  for (const [name, kind] of kinds) ids[name] = fromId(kind, String(request.params[name])) ?? nobody
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
