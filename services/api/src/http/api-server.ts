import { randomUUID } from 'node:crypto'
import { createServer, IncomingMessage, type Server, type ServerOptions, ServerResponse, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { AppError } from '@belfry/domain/app-error'
import type { Express } from 'express'
import type { Context } from '../context.ts'
import { problemResponse } from './problem.ts'

const limits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 20_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 2_000, // the delay of these two timeouts
  keepAliveTimeout: 65_000,
  requireHostHeader: false, // `checkProtocol` requires it, and sends a problem body
}

export function createApiServer(ctx: Context, app: Express, changes: Partial<typeof limits> = {}): Server {
  const server = createExpressServer(app, { ...limits, ...changes })
  sendParserRefusals(ctx, server)
  return server
}

/** Closes a server: requests in flight are answered, and each connection ends with its response. */
export function closeServer(server: Server): Promise<void> {
  // Node keeps a connection that is in use: its caller would be served until the process is killed.
  server.prependListener('request', (_request, response) => {
    response.shouldKeepAlive = false
  })
  server.keepAliveTimeout = 1
  return new Promise(resolve => {
    server.close(() => resolve())
    server.closeIdleConnections()
  })
}

// For a caller that is still sending: if closed at once, the connection is reset before the caller reads the response.
const lingerMs = 2_000

/** Sends a problem body also when Node rejects a request before the application gets it. */
function sendParserRefusals(ctx: Context, server: Server): void {
  const refused = new WeakSet<Duplex>()
  const refuse = (socket: Duplex, refusal: AppError) => {
    if (refused.has(socket)) return // Node reports each further chunk again
    refused.add(socket)
    if (!socket.writable) return void socket.destroy()
    ctx.metrics.refused(refusal.code)
    const requestId = randomUUID()
    ctx.log.info({ request: requestId, code: refusal.code }, 'request.unreadable')
    socket.end(toText(problemResponse(ctx, refusal, requestId), requestId))
    socket.resume()
    const linger = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(linger))
  }
  const answering = new WeakMap<Duplex, { headersSent: boolean; writableFinished: boolean }>()
  server.prependListener('request', (request, response) => answering.set(request.socket, response))
  server.on('clientError', (error: Error & { code?: string }, socket) => {
    const current = answering.get(socket)
    const isHalfSent = current?.headersSent && !current.writableFinished
    if (error.code === 'ECONNRESET' || isHalfSent) socket.destroy()
    else refuse(socket, refusalOf(error.code))
  })
  server.on('connect', (_request, socket) => refuse(socket, new AppError('bad_request', 'This server is not a proxy.')))
}

function refusalOf(code: string | undefined): AppError {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return new AppError('headers_too_large', 'Send at most 16 KiB of URL and headers together.')
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new AppError('request_timeout', 'Send a request within 60 seconds, and its headers within 20.')
    default:
      return new AppError('bad_request', 'This is not a well-formed HTTP/1.1 request.')
  }
}

function toText({ status, headers, body }: ReturnType<typeof problemResponse>, requestId: string): string {
  const content = JSON.stringify(body)
  const lines = Object.entries({
    Date: new Date().toUTCString(),
    'X-Request-Id': requestId,
    'X-Content-Type-Options': 'nosniff',
    'Cache-Control': 'no-store',
    ...headers,
    'Content-Length': Buffer.byteLength(content),
    Connection: 'close',
  }).map(([name, value]) => `${name}: ${value}\r\n`)
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${content}`
}

/**
 * Makes a server whose requests and responses have Express's prototypes from the start. Otherwise Express sets these on
 * each request and slows down all later property access
 * (docs/decisions/0019-create-requests-with-express-prototypes.md).
 */
export function createExpressServer(app: Express, options: ServerOptions): Server {
  class ExpressRequest extends IncomingMessage {}
  class ExpressResponse extends ServerResponse {}
  Object.setPrototypeOf(ExpressRequest.prototype, app.request)
  Object.setPrototypeOf(ExpressResponse.prototype, app.response)
  Object.assign(app, { request: ExpressRequest.prototype, response: ExpressResponse.prototype })
  const classes = { IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse }
  const serve = serveTogether(app)
  const server = createServer({ ...options, ...classes }, serve)
  server.on('checkExpectation', serve)
  server.on('checkContinue', (request, response) => {
    response.setHeader('Connection', 'close') // until the body is read: the caller may not send it
    serve(request, response)
  })
  return server
}

// Serves the requests that one event-loop iteration has read on all connections together, after the iteration
// (docs/decisions/0015-batch-work-per-event-loop-iteration.md).
function serveTogether(app: Express): (request: IncomingMessage, response: ServerResponse) => void {
  const arrived: Array<{ request: IncomingMessage; response: ServerResponse }> = []
  return (request, response) => {
    if (arrived.push({ request, response }) > 1) return
    setImmediate(() => {
      for (const { request, response } of arrived.splice(0)) {
        if (!request.destroyed) app(request, response) // skips callers that have disconnected
      }
    })
  }
}
