import { createServer, type IncomingHttpHeaders, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach } from 'vitest'

export type Received = { method: string; path: string; headers: IncomingHttpHeaders; body: string }
export type Scripted = {
  status?: number
  headers?: Record<string, string>
  body?: string
  /** What happens instead of a response. */
  instead?: 'hang' | 'hang up' | 'drip' | 'stay open' | 'break off'
}

/**
 * A real server that sends the responses of a test in order, and records its requests. Each test has its own: a request that
 * the test before has cancelled may still arrive, and would take a response.
 */
export function useServer() {
  let server: Server
  let url = ''
  const received: Received[] = []
  const script: Scripted[] = []
  beforeEach(async () => {
    received.length = 0
    script.length = 0
    server = createServer(async (request, response) => {
      let body = ''
      for await (const chunk of request) body += chunk
      received.push({ method: request.method ?? '', path: request.url ?? '', headers: request.headers, body })
      const { status = 200, headers = {}, body: answer = '{}', instead } = script.shift() ?? {}
      if (instead === 'hang') return
      if (instead === 'hang up') return void request.socket.destroy()
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      if (instead === 'drip') return void response.write(answer.slice(0, 1))
      if (instead === 'stay open') return void response.write(answer)
      if (instead === 'break off') return void response.write(answer, () => setImmediate(() => response.destroy()))
      response.end(status === 204 ? undefined : answer)
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  })
  afterEach(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    get url() {
      return url
    },
    received,
    /** Sets the next responses; after them it sends `200 {}`. */
    answers: (...next: Scripted[]) => void script.push(...next),
  }
}

/** The body of an error response of the API. */
export function problem(status: number, code: string, more: object = {}): Scripted {
  const body = JSON.stringify({ status, code, detail: `It is ${code}.`, request_id: 'req-1', ...more })
  return { status, body, headers: { 'content-type': 'application/problem+json' } }
}
