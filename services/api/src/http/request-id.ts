import { randomUUID } from 'node:crypto'
import type { NextFunction, Request, Response } from 'express'

const wellFormed = /^[A-Za-z0-9._-]{1,128}$/

/** Sets `X-Request-Id` on every response: the caller's when it is well formed, else a new one. */
export function requestId(request: Request, response: Response, next: NextFunction): void {
  const given = request.headers['x-request-id']
  response.setHeader('X-Request-Id', typeof given === 'string' && wellFormed.test(given) ? given : randomUUID())
  next()
}

export function requestIdOf(response: Response): string {
  return String(response.getHeader('X-Request-Id'))
}
