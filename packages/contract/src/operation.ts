import type { AppErrorCode } from '@belfry/domain/app-error'
import type { IdKind } from '@belfry/domain/id'
import type { Action, ActionIn } from '@belfry/domain/permissions'
import type { z } from 'zod'

/** Who may call an operation: anyone, any session, the session of an operator, or callers with a right of the table. */
export type Right = 'public' | 'signed_in' | 'operator' | Action

/** The facts about an operation that its server and every client need. */
export type Declaration = {
  /** The right that a caller needs, `signed_in` for any user, or `public`. */
  right: Right
  /** Other rights that also admit a caller. The handler asks for the right that the request needs. */
  orRights?: readonly ActionIn<'workspace'>[]
  /** Describes the operation in the reference, in a few words. */
  summary: string
  /** What the summary does not say, in whole sentences. */
  description?: string
  /** Its method in the clients, such as `tasks.create`. An operation without one is for people, or for other programs. */
  client?: string
  /** Whether the API may read from a replica. Its data is up to some seconds old. Default false. */
  mayLag?: boolean
  query?: z.ZodType
  body?: z.ZodType
  response: SuccessResponse
  /** Errors that do not follow from the right, the path or the body. */
  errors?: readonly AppErrorCode[]
  /** Whether it creates something, and accepts an `Idempotency-Key`. Default false. */
  isIdempotent?: boolean
}

/** The status of a response and the schema of its body; without a schema there is no body. */
export type SuccessResponse = {
  status: number
  /** A second status with the same body. */
  orStatus?: number
  body?: z.ZodType
  /** Whether it begins or ends the session of a browser. */
  setsCookie?: boolean
  /** Media types of text responses, in addition to JSON or instead of it. */
  texts?: readonly string[]
}

type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** An operation of the HTTP API. A parameter of its path is written as `:ws`. */
export type Operation = Declaration & { method: Method; path: string }

type Declared = Omit<Declaration, 'response'> & Partial<Pick<Declaration, 'response'>>

/**
 * Declares an operation. Its type has the literal method and path and the types of the schemas. Without a response it is
 * 204.
 */
export function operation<const M extends Method, const P extends string, const D extends Declared>(
  method: M,
  path: P,
  declaration: D,
) {
  const declared = { method, path, response: { status: 204 }, ...declaration }
  return declared as { method: M; path: P } & (D extends { response: SuccessResponse }
    ? D
    : D & { response: { status: 204 } })
}

/** Stands for the id of the caller's workspace in a path. */
export const currentWorkspace = 'current'

/** The kind of id in a path parameter, by its name. Other parameters are texts. A malformed id gets the response of an unknown one. */
export const pathIds = {
  ...{ org: 'org', user: 'user', inv: 'inv', session: 'ses', passkey: 'pk' },
  ...{ ws: 'ws', key: 'key', fed: 'fed', int: 'int', secret: 'sec' },
  ...{ task: 'task', cronjob: 'cron', run: 'run', sub: 'sub', operation: 'op' },
} as const satisfies Record<string, IdKind>

/** Returns the names of the parameters of a path, in their order. */
export function pathParameters(path: string): string[] {
  return Array.from(path.matchAll(/:(\w+)/g), ([, name = '']) => name)
}

export type PathParameter<P extends string> = P extends `${string}:${infer Name}/${infer Rest}`
  ? Name | PathParameter<Rest>
  : P extends `${string}:${infer Name}`
    ? Name
    : never

export type RequestBody<D> = D extends { body: infer Body extends z.ZodType } ? z.input<Body> : undefined

export type RequestQuery<D> = D extends { query: infer Query extends z.ZodType } ? z.input<Query> : unknown

/** The response body of an operation, or undefined if it has no body. */
export type ResponseBody<D> = D extends { response: { body: infer Body extends z.ZodType } }
  ? z.output<Body>
  : undefined
