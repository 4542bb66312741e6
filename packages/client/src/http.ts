import { toCamel, toSnake } from './case.ts'
import { type ApiError, ConnectionError, TimeoutError, toApiError } from './errors.ts'
import type { BelfryOptions, RequestOptions } from './options.ts'
import { retryDelayMs } from './retry-delay.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export type Call = {
  method: Method
  path: string
  query?: Record<string, unknown>
  /** JSON text. */
  body?: string
  /** Makes a repetition of the call harmless. */
  idempotencyKey?: string
  options?: RequestOptions | undefined
}

/** Calls the API, repeats what may be repeated, and throws what went wrong. */
export type Http = {
  json<T>(call: Call): Promise<T>
  /** The answer as it comes in. Not repeated. */
  open(call: Call): Promise<Response>
}

export const version = '0.1.0'

const defaults = { baseUrl: 'http://localhost:3000', timeoutMs: 30_000, maxRetries: 2 }

export function createHttp(client: BelfryOptions): Http {
  const origin = (client.baseUrl ?? defaults.baseUrl).replace(/\/+$/, '')
  const credentials = credentialsOf(client)

  async function attempt<T>(call: Call, number: number, read: (response: Response) => Promise<T>): Promise<T> {
    const { method, options } = call
    const url = `${origin}${call.path}${toQuery(call.query)}`
    const timeoutMs = options?.timeoutMs ?? client.timeoutMs ?? defaults.timeoutMs
    const limit = startLimit(timeoutMs, options?.signal)
    const started = Date.now()
    client.on?.request?.({ method, url, attempt: number })
    try {
      const doFetch = client.fetch ?? globalThis.fetch
      const response = await doFetch(url, { ...initOf(call, credentials), signal: limit.signal })
      client.on?.response?.({ method, url, attempt: number, status: response.status, durationMs: Date.now() - started })
      if (!response.ok) throw await readProblem(response)
      return await read(response)
    } catch (error) {
      if (options?.signal?.aborted) throw options.signal.reason
      if (limit.isOver()) throw new TimeoutError(`${method} ${url} took longer than ${timeoutMs} ms.`, { cause: error })
      if (isOurs(error)) throw error
      throw new ConnectionError(`${method} ${url} got no answer.`, { cause: error })
    } finally {
      limit.clear()
    }
  }

  return {
    open: call => attempt(call, 1, async response => response),
    async json<T>(call: Call): Promise<T> {
      const maxRetries = call.options?.maxRetries ?? client.maxRetries ?? defaults.maxRetries
      for (let number = 1; ; number++) {
        try {
          return await attempt(call, number, response => readJson<T>(response))
        } catch (error) {
          const delayMs = number > maxRetries ? null : retryDelayMs(error, number, isRepeatable(call))
          if (delayMs === null) throw error
          const reason = error instanceof Error ? error.message : String(error)
          client.on?.retry?.({ method: call.method, url: origin + call.path, attempt: number, delayMs, reason })
          await pause(delayMs, call.options?.signal)
        }
      }
    },
  }
}

function isRepeatable({ method, idempotencyKey }: Call): boolean {
  return method === 'GET' || method === 'PUT' || idempotencyKey !== undefined
}

function credentialsOf({ apiKey, sessionToken, workspaceId }: BelfryOptions): Record<string, string> {
  if (apiKey !== undefined) return { 'X-Api-Key': apiKey }
  if (sessionToken === undefined) throw new TypeError('Give the client an apiKey, or a sessionToken.')
  return { Authorization: `Bearer ${sessionToken}`, ...(workspaceId ? { 'X-Workspace-Id': workspaceId } : {}) }
}

function initOf(call: Call, credentials: Record<string, string>): RequestInit {
  const headers: Record<string, string> = {
    Accept: 'application/json',
    'User-Agent': `belfry-client/${version}`, // browsers keep their own
    ...credentials,
  }
  if (call.idempotencyKey !== undefined) headers['Idempotency-Key'] = call.idempotencyKey
  if (call.body === undefined) return { method: call.method, headers }
  headers['Content-Type'] = 'application/json'
  return { method: call.method, headers, body: call.body }
}

function toQuery(query: Record<string, unknown> = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(toSnake(query) as Record<string, unknown>)) {
    for (const item of Array.isArray(value) ? value : [value]) {
      if (item !== undefined && item !== null)
        search.append(name, item instanceof Date ? item.toISOString() : String(item))
    }
  }
  const text = search.toString()
  return text === '' ? '' : `?${text}`
}

async function readJson<T>(response: Response): Promise<T> {
  const text = await response.text()
  return (text === '' ? undefined : toCamel(JSON.parse(text))) as T // the shape that the API documents
}

// What stands before the API may answer with a page of its own.
async function readProblem(response: Response): Promise<ApiError> {
  const text = await response.text()
  const body = parsed(text)
  const problem: Record<string, unknown> = body !== null && typeof body === 'object' ? { ...body } : {}
  const own = (name: string) => (typeof problem[name] === 'string' ? problem[name] : undefined)
  return toApiError({
    status: response.status,
    code: own('code') ?? `http_${response.status}`,
    detail: own('detail') ?? `The server answered ${response.status} ${response.statusText}`.trim(),
    requestId: own('request_id') ?? response.headers.get('x-request-id'),
    errors: Array.isArray(problem.errors) ? problem.errors : [],
    body: body ?? text,
    headers: response.headers,
  })
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null // not JSON: the text itself is all there is
  }
}

function isOurs(error: unknown): boolean {
  return error instanceof Error && 'requestId' in error
}

/** Ends a call that takes too long, or whose caller has lost interest: `AbortSignal.any` is too young for Node 18. */
function startLimit(timeoutMs: number, outer: AbortSignal | undefined) {
  const controller = new AbortController()
  let isOver = false
  const timer = setTimeout(() => {
    isOver = true
    controller.abort()
  }, timeoutMs)
  const abort = () => controller.abort(outer?.reason)
  if (outer?.aborted) abort()
  outer?.addEventListener('abort', abort, { once: true })
  return {
    signal: controller.signal,
    isOver: () => isOver,
    clear() {
      clearTimeout(timer)
      outer?.removeEventListener('abort', abort)
    },
  }
}

async function pause(ms: number, signal: AbortSignal | undefined): Promise<void> {
  signal?.throwIfAborted()
  await new Promise<void>((resolve, reject) => {
    const giveUp = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', giveUp)
      resolve()
    }, ms)
    signal?.addEventListener('abort', giveUp, { once: true })
  })
}
