import type { Server } from 'node:http'
import type { Express } from 'express'
import type { Context } from '../context.ts'
import { createExpressServer } from './express-server.ts'
import { sendParserRefusals } from './parser-refusals.ts'

const limits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 20_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 2_000, // the delay of these two timeouts
  keepAliveTimeout: 65_000,
  requireHostHeader: false, // `checkProtocol` requires it, and sends a problem body
}

/** Makes the HTTP server, with its limits for connections. */
export function createApiServer(ctx: Context, app: Express, changes: Partial<typeof limits> = {}): Server {
  const server = createExpressServer(app, { ...limits, ...changes })
  sendParserRefusals(ctx, server)
  return server
}
