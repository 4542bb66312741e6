import type { Express } from 'express'
import { type InjectOptions, inject, type Response } from 'light-my-request'

/** Sends a request to the application within this process, without a socket. */
export function injectRequest(app: Express, options: InjectOptions): Promise<Response> {
  return inject((request, response) => app(keepMethods(request) as never, keepMethods(response) as never), options)
}

// Express replaces the prototype of both, and with it the methods that take the place of a socket.
function keepMethods<T extends object>(message: T): T {
  const own = Object.getOwnPropertyDescriptors(Object.getPrototypeOf(message))
  for (const [name, property] of Object.entries(own)) {
    if (name !== 'constructor') Object.defineProperty(message, name, property)
  }
  return message
}
