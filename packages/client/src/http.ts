import { toSnake } from './case.ts'
import { BelfryError, ConnectionError, TimeoutError } from './errors.ts'
import { stringifyJson } from './exact-json.ts'
import type { BelfryOptions, CreateOptions, RequestOptions } from './options.ts'
import { readJson, readProblem, readRawJson } from './read-response.ts'
import { retryDelayMs } from './retry-delay.ts'
import { pause, startTimeLimit } from './time-limit.ts'
import type { Method } from './types/index.ts'

type Call = {
  method: Method
  path: string
  query?: Record<string, unknown> | undefined
  /** JSON text. */
  body?: string | undefined
  headers?: Record<string, string>
  /** Makes retries of the call safe. */
  idempotencyKey?: string | undefined
  options?: RequestOptions | undefined
}

/** A request to the HTTP API, with the names of the HTTP API. */
export type RawRequest = CreateOptions & {
  query?: Record<string, unknown>
  /** Sent as JSON. Text is JSON already, and is sent unchanged. */
  body?: unknown
}

/** Calls the API, retries where that is safe, and throws errors. */
export type Http = {
  get<T>(path: string, options?: RequestOptions, query?: Record<string, unknown>): Promise<T>
  post<T>(path: string, body?: string, options?: RequestOptions): Promise<T>
  /** A POST with an `Idempotency-Key`, so it can be retried safely. */
  create<T>(path: string, body?: string, options?: CreateOptions): Promise<T>
  put<T>(path: string, body?: string, options?: RequestOptions): Promise<T>
  patch<T>(path: string, body?: string, options?: RequestOptions): Promise<T>
  delete<T>(path: string, options?: RequestOptions): Promise<T>
  /** Calls any operation. Names are sent and returned as the HTTP API has them. */
  raw<T>(method: Method, path: string, request: RawRequest): Promise<T>
  /** Returns the response as a stream. The time limit covers only its headers; the caller's signal can end it later. */
  open(call: Call): Promise<Response>
}

const version = '0.3.0-dev'

const defaults = { baseUrl: 'http://localhost:3000', timeoutMs: 30_000, maxRetries: 2 }

/** @param anonymous - Headers that replace the credential. Default: the credential of the options or the environment. */
export function createHttp(client: BelfryOptions, anonymous?: Record<string, string>): Http {
  const environment = readEnvironment()
  const origin = (client.baseUrl || environment.BELFRY_URL || defaults.baseUrl).replace(/\/+$/, '')
  const credentials = anonymous ?? credentialsOf(client, environment.BELFRY_API_KEY)

  const nameOf = ({ method, path }: Call) => `${method} ${origin}${path}`

  async function attempt<T>(call: Call, number: number, read: (response: Response) => Promise<T> | null) {
    const { method, options } = call
    const url = `${origin}${call.path}${toQuery(call.query)}`
    const timeoutMs = options?.timeoutMs ?? client.timeoutMs ?? defaults.timeoutMs
    const limit = startTimeLimit(timeoutMs, options?.signal)
    const started = Date.now()
    let isOpen = false
    runHook(() => client.on?.request?.({ method, url, attempt: number }))
    try {
      const doFetch = client.fetch ?? globalThis.fetch
      const response = await doFetch(url, { ...initOf(call, credentials), signal: limit.signal })
      const { status } = response
      runHook(() => client.on?.response?.({ method, url, attempt: number, status, durationMs: Date.now() - started }))
      if (!response.ok) throw await readProblem(response, nameOf(call))
      const answer = read(response)
      isOpen = answer === null
      return { answer: (await answer) as T, response }
    } catch (error) {
      if (options?.signal?.aborted) throw options.signal.reason
      if (limit.isOver()) throw new TimeoutError(`${method} ${url} took longer than ${timeoutMs} ms.`, { cause: error })
      if (error instanceof BelfryError) throw error
      throw new ConnectionError(`${method} ${url} got no response.`, { cause: error })
    } finally {
      if (isOpen) limit.lift()
      else limit.clear()
    }
  }

  async function repeat<T>(call: Call, read: (response: Response) => Promise<T> | null) {
    const maxRetries = call.options?.maxRetries ?? client.maxRetries ?? defaults.maxRetries
    for (let number = 1; ; number++) {
      try {
        return await attempt(call, number, read)
      } catch (error) {
        const delayMs = number > maxRetries ? null : retryDelayMs(error, number, isRepeatable(call))
        if (delayMs === null) throw error
        const reason = error instanceof Error ? error.message : String(error)
        runHook(() =>
          client.on?.retry?.({ method: call.method, url: origin + call.path, attempt: number, delayMs, reason }),
        )
        await pause(delayMs, call.options?.signal)
      }
    }
  }

  async function json<T>(call: Call): Promise<T> {
    return (await repeat(call, response => readJson<T>(response, nameOf(call)))).answer
  }

  return {
    get: (path, options, query) => json({ method: 'GET', path, query, options }),
    post: (path, body, options) => json({ method: 'POST', path, body, options }),
    create: (path, body, options) =>
      json({ method: 'POST', path, body, options, idempotencyKey: options?.idempotencyKey ?? newIdempotencyKey() }),
    put: (path, body, options) => json({ method: 'PUT', path, body, options }),
    patch: (path, body, options) => json({ method: 'PATCH', path, body, options }),
    delete: (path, options) => json({ method: 'DELETE', path, options }),
    async raw<T>(method: Method, path: string, { query, body, idempotencyKey, ...options }: RawRequest) {
      const text = body === undefined || typeof body === 'string' ? body : stringifyJson(body)
      const call = { method, path, query, body: text, idempotencyKey, options }
      return (await repeat(call, response => readRawJson<T>(response, nameOf(call)))).answer
    },
    open: async call => (await repeat(call, () => null)).response,
  }
}

// Wraps the error of a hook, because the request must not be retried for it.
function runHook(hook: () => void): void {
  try {
    hook()
  } catch (error) {
    throw new BelfryError('A hook of the client failed.', { cause: error })
  }
}

function isRepeatable({ method, idempotencyKey }: Call): boolean {
  return method === 'GET' || method === 'PUT' || idempotencyKey !== undefined
}

function credentialsOf(
  { apiKey, sessionToken, workspaceId }: BelfryOptions,
  keyOfEnvironment: string | undefined,
): Record<string, string> {
  if (apiKey) return { 'X-Api-Key': apiKey }
  if (sessionToken) {
    return { Authorization: `Bearer ${sessionToken}`, ...(workspaceId ? { 'X-Workspace-Id': workspaceId } : {}) }
  }
  if (keyOfEnvironment) return { 'X-Api-Key': keyOfEnvironment }
  throw new TypeError('There is no API key. Set BELFRY_API_KEY, or pass apiKey or sessionToken.')
}

function initOf(call: Call, credentials: Record<string, string>): RequestInit {
  const headers: Record<string, string> = {
    Accept: 'application/json',
    'User-Agent': `belfry-client/${version}`, // browsers ignore it
    ...credentials,
    ...call.headers,
  }
  if (call.idempotencyKey !== undefined) headers['Idempotency-Key'] = call.idempotencyKey
  // A redirect could send the key to another server.
  const init: RequestInit = { method: call.method, headers, redirect: 'manual' }
  if (call.body === undefined) return init
  headers['Content-Type'] = 'application/json'
  return { ...init, body: call.body }
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

// Browsers and some workers do not have `process`.
function readEnvironment(): { BELFRY_API_KEY?: string; BELFRY_URL?: string } {
  return (globalThis as { process?: { env?: ReturnType<typeof readEnvironment> } }).process?.env ?? {}
}

/** Returns a random key, even without `crypto.randomUUID` (Node 18 without flags, insecure pages). */
function newIdempotencyKey(): string {
  const bytes =
    globalThis.crypto?.getRandomValues(new Uint8Array(16)) ?? Array.from({ length: 16 }, () => Math.random() * 256)
  return Array.from(bytes, byte => Math.floor(byte).toString(16).padStart(2, '0')).join('')
}
