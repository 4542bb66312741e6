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
  return createServer({ ...options, IncomingMessage: ExpressRequest, ServerResponse: ExpressResponse }, app)
}
