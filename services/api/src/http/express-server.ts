import { createServer, IncomingMessage, type Server, type ServerOptions, ServerResponse } from 'node:http'
import type { Express } from 'express'

/**
 * Makes a server whose requests and responses are born with Express's prototypes. Express sets these on each request,
 * which makes all later property access slow; on an object that has them already, that is no change.
 */
export function createExpressServer(app: Express, options: ServerOptions): Server {
  // Classes, because the engine gives their objects room for all that the base's constructor sets; those of a function
  // that calls it would have to grow again and again, for a sixth of what a request costs.
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
    response.setHeader('Connection', 'close') // until the body is asked for: the caller may not send it
    serve(request, response)
  })
  return server
}

/**
 * Serves the requests that one turn of the event loop has read, on all connections, together after it. Each step is then
 * taken for all of them, one after the other, while its code is at hand: with many connections they take less CPU.
 */
function serveTogether(app: Express): (request: IncomingMessage, response: ServerResponse) => void {
  const arrived: Array<{ request: IncomingMessage; response: ServerResponse }> = []
  return (request, response) => {
    if (arrived.push({ request, response }) > 1) return
    setImmediate(() => {
      for (const { request, response } of arrived.splice(0)) {
        if (!request.destroyed) app(request, response) // nobody is there any more
      }
    })
  }
}
