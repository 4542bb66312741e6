import type { PathParameter, RequestBody, RequestQuery, ResponseBody } from '@belfry/contract/operation'
import type { operations } from '@belfry/contract/operations'
import { ApiProblem } from './api-problem.ts'
import table from './generated/operations.json' with { type: 'json' }
import { parseResponse, toBodyText } from './payload-text.ts'

type Operations = typeof operations

export type OperationName = keyof Operations

export type Body<Name extends OperationName> = RequestBody<Operations[Name]>

export type Result<Name extends OperationName> = ResponseBody<Operations[Name]>

/** Query parameters. A list becomes a repeated parameter. Empty values are left out. */
export type Query = Readonly<Record<string, Value | readonly string[]>>

type Value = string | number | boolean | null | undefined

type Path<Name extends OperationName> = Operations[Name]['path']

/** The parameters of the path, the workspace `ws` of a path that does not contain it, the body and the query. */
export type Input<Name extends OperationName> = Readonly<Record<PathParameter<Path<Name>>, string>> &
  (Path<Name> extends `/api/v1/scheduler/${string}` | '/api/events' ? { ws: string } : unknown) &
  (Operations[Name] extends { body: unknown } ? { body: Body<Name> } : unknown) &
  (Operations[Name] extends { query: unknown } ? { query?: QueryOf<Name> } : unknown) &
  Pick<AnyInput, 'signal'>

type QueryOf<Name extends OperationName> = {
  readonly [Parameter in keyof RequestQuery<Operations[Name]>]?: Value | readonly string[]
}

/** The arguments of a call, without the input if nothing in it is required. */
export type Args<Name extends OperationName> =
  Record<never, never> extends Input<Name> ? [input?: Input<Name>] : [input: Input<Name>]

type AnyInput = { body?: unknown; query?: Query; ws?: string; idempotencyKey?: string; signal?: AbortSignal }

// Other processes of the API do not know of a change, and might read a replica that lacks it.
const changeIsNewMs = 10_000
let changedAt = Number.NEGATIVE_INFINITY
const changes: OperationName[] = []

/** The idempotent creations of this dashboard. */
export const keyedOperations = ['createTask', 'createCronJob', 'publishEvent', 'replayTask'] as const

// Later, an equal creation is a new wish.
const keptMs = 5 * 60_000
// The keys of creations whose answer was lost, by their input: the API may have done them.
const keys = new Map<string, { key: string; madeAt: number }>()

/** Calls an operation that changes something. A creation whose answer was lost is repeated with the same idempotency key. */
export async function call<Name extends OperationName>(name: Name, ...args: Args<Name>): Promise<Result<Name>> {
  const text = JSON.stringify([name, args])
  const isKeyed = (keyedOperations as readonly string[]).includes(name)
  const keyed = [{ ...args[0], idempotencyKey: isKeyed ? keyOf(text) : undefined }] as unknown as Args<Name> // the same members
  try {
    const result = await read(name, ...keyed)
    keys.delete(text)
    return result
  } catch (error) {
    if (error instanceof ApiProblem && error.isRefusal) keys.delete(text)
    throw error
  } finally {
    changedAt = performance.now()
    changes.push(name)
  }
}

function keyOf(text: string): string {
  const known = keys.get(text)
  if (known && performance.now() - known.madeAt < keptMs) return known.key
  const key = crypto.getRandomValues(new Uint32Array(4)).join('-') // a page without TLS has no `randomUUID`
  keys.set(text, { key, madeAt: performance.now() })
  return key
}

/** Returns the operations that `call` has called since the last time. */
export function takeChanges(): OperationName[] {
  return changes.splice(0)
}

/** Calls a read-only operation. */
export async function read<Name extends OperationName>(name: Name, ...args: Args<Name>): Promise<Result<Name>> {
  const response = await send(name, args[0] ?? {})
  const text = await response.text()
  const body: unknown = text === '' ? undefined : readJson(text)
  if (response.ok) return body as Result<Name> // what the contract promises
  const problem = new ApiProblem(response.status, (body ?? {}) as object)
  const isConfirmed = await confirmFor(problem)
  if (isConfirmed) return read(name, ...args)
  throw problem
}

type AskToConfirm = (factors: readonly string[]) => Promise<boolean>

let askToConfirm: AskToConfirm | null = null
let asking: Promise<boolean> | null = null

/** Sets how the user is asked to confirm the identity. */
export function askToConfirmWith(ask: AskToConfirm): void {
  askToConfirm = ask
}

/** Returns whether the user has confirmed the identity, so a refused call may be repeated. Calls refused at once share a question. */
async function confirmFor({ code, body }: ApiProblem): Promise<boolean> {
  const { factors, sign_in_token: signInToken } = body
  const isRefused = code === 'step_up_required' || (code === 'second_factor_required' && signInToken === undefined)
  if (!isRefused || askToConfirm === null || !Array.isArray(factors) || factors.length === 0) return false
  asking ??= askToConfirm(factors).finally(() => {
    asking = null
  })
  return asking
}

// Only this function and `followLog` use `fetch`. The browser adds the session cookie.
async function send(name: OperationName, { body, idempotencyKey, signal, ...input }: AnyInput): Promise<Response> {
  const [method = '', path = ''] = table[name].split(' ')
  try {
    return await fetch(addressOf(name, input), {
      method,
      headers: {
        Accept: 'application/json',
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(input.ws && !path.includes(':ws') ? { 'X-Workspace-Id': input.ws } : {}),
        ...(performance.now() - changedAt < changeIsNewMs ? { 'X-Belfry-Read': 'primary' } : {}),
        ...(idempotencyKey ? { 'Idempotency-Key': idempotencyKey } : {}),
      },
      ...(body === undefined ? {} : { body: toBodyText(body) }),
      ...(signal ? { signal } : {}),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiProblem(0, { detail: 'Belfry cannot be reached. Check your connection and try again.' })
  }
}

/** Returns the URL of an operation, with its query. */
export function urlOf<Name extends OperationName>(name: Name, ...args: Args<Name>): string {
  return addressOf(name, args[0] ?? {})
}

function addressOf(name: OperationName, { query = {}, ...input }: AnyInput): string {
  const given = new Map<string, unknown>(Object.entries(input))
  const [, path = ''] = table[name].split(' ')
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== '') params.append(name, String(one))
    }
  }
  const filled = path.replace(/:(\w+)/g, (_, part: string) => encodeURIComponent(String(given.get(part))))
  return params.size === 0 ? filled : `${filled}?${params}`
}

function readJson(text: string): unknown {
  try {
    return parseResponse(text)
  } catch {
    return {} // a proxy answered instead of the API
  }
}
