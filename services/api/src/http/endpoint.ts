import { type FieldError, parseInput } from '@belfry/contract'
import { AppError, fromId, type IdKind } from '@belfry/domain'
import type { Request, Response } from 'express'
import type { z } from 'zod'
import { authenticate, type CallerOf, type Credential } from '../auth/authenticate.ts'
import type { Context } from '../context.ts'
import { notFound } from './not-found.ts'
import { readJsonBody } from './read-body.ts'
import type { Reply } from './reply.ts'
import { sendReply } from './send.ts'

/** What the handler of an endpoint gets. */
export type Input<A extends Credential, Body, Query, Params extends string> = {
  caller: CallerOf<A>
  /** Path parameters, as database ids. */
  params: Record<Params, string>
  query: Query
  body: Body
  /** The body as it was sent. */
  bodyText: string
  request: Request
}

type Inspect = (ctx: Context, body: unknown, schemaErrors: FieldError[]) => FieldError[]

export type Definition<A extends Credential, Body, Query, Params extends string> = {
  /** Who may call. */
  auth: A
  /** The kind of id that each path parameter holds. One that is malformed is answered like one that is unknown. */
  params?: Record<Params, IdKind>
  query?: z.ZodType<Query>
  body?: z.ZodType<Body>
  /** Further faults of the body that a schema cannot know; told together with the schema's. */
  inspect?: Inspect
  handle: (ctx: Context, input: Input<A, Body, Query, Params>) => Promise<Reply>
}

export type Endpoint = {
  auth: Credential
  serve: (ctx: Context, request: Request, response: Response) => Promise<void>
}

const maxBodyBytes = 256 * 1024

/** Makes an endpoint: authenticate, parse everything, handle, send. A handler sees only what its schemas let through. */
export function endpoint<A extends Credential, Body = undefined, Query = undefined, Params extends string = never>(
  definition: Definition<A, Body, Query, Params>,
): Endpoint {
  return {
    auth: definition.auth,
    async serve(ctx, request, response) {
      const caller = (await authenticate(ctx, request, definition.auth)) as CallerOf<A> // by the same credential
      const params = readParams(request, definition.params ?? ({} as Record<Params, IdKind>))
      const query = definition.query ? readQuery(request, definition.query) : (undefined as Query)
      const { value, text } = definition.body
        ? await readBody(ctx, request, definition.body, definition.inspect)
        : { value: undefined as Body, text: '' }
      const reply = await definition.handle(ctx, { caller, params, query, body: value, bodyText: text, request })
      sendReply(response, reply)
    },
  }
}

function readParams<Params extends string>(request: Request, kinds: Record<Params, IdKind>): Record<Params, string> {
  const ids = Object.entries<IdKind>(kinds).map(([name, kind]) => {
    const id = fromId(kind, String(request.params[name]))
    if (id === null) throw notFound()
    return [name, id]
  })
  return Object.fromEntries(ids) as Record<Params, string> // the same names
}

function readQuery<Query>(request: Request, schema: z.ZodType<Query>): Query {
  const result = parseInput(schema, request.query)
  if (result.ok) return result.value
  throw new AppError('validation_failed', 'The query has faults; see errors.', { errors: result.errors })
}

async function readBody<Body>(
  ctx: Context,
  request: Request,
  schema: z.ZodType<Body>,
  inspect: Inspect = () => [],
): Promise<{ value: Body; text: string }> {
  const { text, value } = await readJsonBody(request, maxBodyBytes)
  const result = parseInput(schema, value)
  const schemaErrors = result.ok ? [] : result.errors
  const errors = [...schemaErrors, ...inspect(ctx, value, schemaErrors)]
  if (result.ok && errors.length === 0) return { value: result.value, text }
  throw new AppError('validation_failed', 'The body has faults; see errors.', { errors })
}
