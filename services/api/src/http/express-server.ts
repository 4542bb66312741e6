import { createServer, IncomingMessage, type Server, type ServerOptions, ServerResponse } from 'node:http'
import type { Express } from 'express'

/**
 * Makes a server whose requests and responses are born with Express's prototypes. Express sets these on each request,
 * which makes all later property access slow; on an object that has them already, that is no change.
 */
export function createExpressServer(app: Express, options: ServerOptions): Server {
  return createServer(
    {
      ...options,
      IncomingMessage: withPrototype<typeof IncomingMessage>(IncomingMessage, app.request),
      ServerResponse: withPrototype<typeof ServerResponse>(ServerResponse, app.response),
    },
    app,
  )
}

// Called as the plain functions that Node's constructors are: Reflect.construct, which would also do for a class, makes
// objects that are slower to use than those whose prototype was changed.
function withPrototype<Base>(base: new (...args: never[]) => object, prototype: object): Base {
  const initialize = base as unknown as (this: object, ...args: unknown[]) => void
  function Made(this: object, first: unknown, second: unknown): void {
    initialize.call(this, first, second)
  }
  Made.prototype = prototype
  return Made as unknown as Base // called with `new`, it constructs a Base
}
