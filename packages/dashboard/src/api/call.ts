import { ApiProblem } from './api-problem.ts'
import { parseAnswer, toBodyText } from './payload-text.ts'

type Value = string | number | boolean | null | undefined

export type CallOptions = {
  body?: unknown
  /** A list is sent as a repeated parameter; what is empty is left out. */
  query?: Readonly<Record<string, Value | readonly string[]>> | undefined
  /** For the scheduler paths and events: the workspace that is meant. */
  workspaceId?: string | undefined
  idempotencyKey?: string | undefined
  signal?: AbortSignal | undefined
}

/** Makes one call of the API with the session's cookie. The only place that does, beside `followEvents`. */
export async function call<T = void>(method: string, path: string, options: CallOptions = {}): Promise<T> {
  const response = await send(method, path, options)
  const text = await response.text()
  const answer: unknown = text === '' ? undefined : readJson(text)
  if (response.ok) return answer as T // what the contract promises for this path
  throw new ApiProblem(response.status, (answer ?? {}) as object)
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
        ...(options.idempotencyKey ? { 'Idempotency-Key': options.idempotencyKey } : {}),
      },
      ...(body === undefined ? {} : { body: toBodyText(body) }),
      ...(signal ? { signal } : {}),
    })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new ApiProblem(0, { detail: 'Belfry cannot be reached. Check the connection, and try again.' })
  }
}

/** Writes query parameters, with the question mark. */
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
    return parseAnswer(text)
  } catch {
    return {} // not ours: a proxy between here and the API
  }
}
