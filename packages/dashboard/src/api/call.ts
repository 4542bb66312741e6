import { ApiProblem } from './api-problem.ts'
import { parseResponse, toBodyText } from './payload-text.ts'

type Value = string | number | boolean | null | undefined

export type CallOptions = {
  body?: unknown
  /** A list becomes a repeated parameter. Empty values are left out. */
  query?: Readonly<Record<string, Value | readonly string[]>> | undefined
  /** For paths that do not contain the workspace: scheduler paths and events. */
  workspaceId?: string | undefined
  idempotencyKey?: string | undefined
  signal?: AbortSignal | undefined
}

// Other processes of the API do not know of a change, and might read a replica that lacks it.
const changeIsNewMs = 10_000
let changedAt = Number.NEGATIVE_INFINITY

/** Calls the API with the session cookie. Only this function and `followEvents` use `fetch`. */
export async function call<T = void>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  const response = await send(method, path, options)
  const text = await response.text()
  const body: unknown = text === '' ? undefined : readJson(text)
  if (method !== 'GET') changedAt = performance.now()
  if (response.ok) return body as T // what the contract promises for this path
  const problem = new ApiProblem(response.status, (body ?? {}) as object)
  const isConfirmed = await confirmFor(problem)
  if (isConfirmed) return call(method, path, options)
  throw problem
}

type AskToConfirm = (factors: readonly string[]) => Promise<boolean>

let askToConfirm: AskToConfirm | null = null

/** Sets how the user is asked to confirm the identity. Returns a function that ends that. */
export function askToConfirmWith(ask: AskToConfirm): () => void {
  askToConfirm = ask
  return () => {
    askToConfirm = null
  }
}

/** Returns whether the user has confirmed the identity, so a refused call may be repeated. */
async function confirmFor({ code, body }: ApiProblem): Promise<boolean> {
  const { factors, sign_in_token: signInToken } = body
  const isRefused = code === 'step_up_required' || (code === 'second_factor_required' && signInToken === undefined)
  if (!isRefused || askToConfirm === null || !Array.isArray(factors) || factors.length === 0) return false
  return askToConfirm(factors)
}

async function send(method: string, path: string, options: CallOptions): Promise<Response> {
  const { body, query, signal } = options
  try {
    return await fetch(path + queryText(query), {
      method,
      headers: {
        Accept: 'application/json',
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...(options.workspaceId ? { 'X-Workspace-Id': options.workspaceId } : {}),
        ...(performance.now() - changedAt < changeIsNewMs ? { 'X-Belfry-Read': 'primary' } : {}),
        ...(options.idempotencyKey ? { 'Idempotency-Key': options.idempotencyKey } : {}),
      },
      ...(body === undefined ? {} : { body: toBodyText(body) }),
      ...(signal ? { signal } : {}),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiProblem(0, { detail: 'Belfry cannot be reached. Check your connection and try again.' })
  }
}

/** Returns query parameters as text, with the question mark. */
export function queryText(query: CallOptions['query'] = {}): string {
  const params = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== '') params.append(name, String(one))
    }
  }
  const text = params.toString()
  return text === '' ? '' : `?${text}`
}

function readJson(text: string): unknown {
  try {
    return parseResponse(text)
  } catch {
    return {} // a proxy answered instead of the API
  }
}
