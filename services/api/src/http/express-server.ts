import { createServer, IncomingMessage, type Server, type ServerOptions, ServerResponse } from 'node:http'
import type { Express } from 'express'

/**
 * Makes a server whose requests and responses have Express's prototypes from the start. Express otherwise sets these on
 * each request, which slows down all later property access (docs/decisions/0019-create-requests-with-express-prototypes.md).
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
