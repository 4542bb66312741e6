import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A call that the receiver got. */
export type ReceivedCall = {
  method: string
  /** Without the query. */
  path: string
  url: URL
  headers: Headers
  /** The body as UTF-8 text. */
  text: string
  /** The body as JSON; undefined when it is none. */
  // biome-ignore lint/suspicious/noExplicitAny: tests look into bodies whose shape they assert
  json: any
}

/** What the receiver answers: a status, a response, or a function such as the handler of an app. */
export type Answer =
  | number
  | { status?: number; headers?: Record<string, string>; body?: string | object }
  | ((request: Request) => Response | Promise<Response>)

export type Receiver = {
  url(path: string): string
  calls: ReceivedCall[]
  answer(path: string, answers: Answer[]): void
  /** Returns the oldest call of a path that it has not returned yet. */
  received(path: string, timeoutMs: number): Promise<ReceivedCall>
  clear(): void
  close(): void
}

/**
 * Starts a server on loopback that keeps all calls. It answers 200 where nothing else is set.
 * @param beforeAnswer - Called before a function answers.
 */
export async function startReceiver(beforeAnswer: () => Promise<unknown>): Promise<Receiver> {
  const calls: ReceivedCall[] = []
  const returned = new Set<ReceivedCall>()
  const answers = new Map<string, Answer[]>()
  let waiting: Array<() => void> = []

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = await request.toArray()
    const body = Buffer.concat(chunks)
    const call = toCall(request, body.toString())
    const queue = answers.get(call.path) ?? []
    const answer = (queue.length > 1 ? queue.shift() : queue[0]) ?? 200
    if (typeof answer === 'function') await beforeAnswer()
    const reply = await toResponse(answer, call, body).catch(
      error => new Response(String(error instanceof Error ? error.stack : error), { status: 500 }),
    )
    calls.push(call)
    for (const check of waiting) check()
    response.writeHead(reply.status, Object.fromEntries(reply.headers))
    response.end(Buffer.from(await reply.arrayBuffer()))
  }

  const next = (path: string) => calls.find(call => call.path === path && !returned.has(call))

  function take(path: string): ReceivedCall | undefined {
    const call = next(path)
    if (call) returned.add(call)
    return call
  }

  const server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy()) // the server of the test has disconnected
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  server.unref()
  const { port } = server.address() as AddressInfo // it listens on a port, not on a pipe
  return {
    url: path => `http://127.0.0.1:${port}${path}`,
    calls,
    answer: (path, list) => void answers.set(path, [...list]),
    received(path, timeoutMs) {
      const call = take(path)
      if (call) return Promise.resolve(call)
      return new Promise((resolve, reject) => {
        const end = () => {
          clearTimeout(timer)
          waiting = waiting.filter(other => other !== check)
        }
        const check = () => {
          const found = take(path)
          if (!found) return
          end()
          resolve(found)
        }
        const timer = setTimeout(() => {
          end()
          const paths = calls.map(other => `${other.method} ${other.path}`).join(', ') || 'none'
          reject(new Error(`No call of ${path} came within ${timeoutMs} ms. Calls so far: ${paths}.`))
        }, timeoutMs)
        waiting.push(check)
      })
    },
    clear() {
      calls.length = 0
      answers.clear()
      returned.clear()
    },
    close() {
      server.close()
      server.closeAllConnections()
    },
  }
}

function toCall(request: IncomingMessage, text: string): ReceivedCall {
  const url = new URL(request.url ?? '/', `http://${request.headers.host}`)
  const headers = new Headers()
  for (const [name, values] of Object.entries(request.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  return { method: request.method ?? 'GET', path: url.pathname, url, headers, text, json: parse(text) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

async function toResponse(
  answer: Answer,
  { method, url, headers }: ReceivedCall,
  bytes: Buffer<ArrayBuffer>,
): Promise<Response> {
  if (typeof answer === 'number') return new Response(null, { status: answer })
  if (typeof answer === 'function') {
    const body = method === 'GET' || method === 'HEAD' ? null : bytes
    return answer(new Request(url, { method, headers, body }))
  }
  const { status = 200, headers: own = {}, body = null } = answer
  if (body === null || typeof body === 'string') return new Response(body, { status, headers: own })
  return Response.json(body, { status, headers: own })
}
