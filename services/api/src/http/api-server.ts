import type { Server } from 'node:http'
import type { Express } from 'express'
import type { Context } from '../context.ts'
import { createExpressServer } from './express-server.ts'
import { answerParserRefusals } from './parser-refusals.ts'

const limits = {
  maxHeaderSize: 16 * 1024,
  headersTimeout: 20_000,
  requestTimeout: 60_000,
  connectionsCheckingInterval: 2_000, // how much later than these two a connection may end
  keepAliveTimeout: 65_000,
  requireHostHeader: false, // `checkProtocol` asks for it, and answers with a problem body
}

/** Makes the server of the interface, with the limits of a connection. */
export function createApiServer(ctx: Context, app: Express, changes: Partial<typeof limits> = {}): Server {
  const server = createExpressServer(app, { ...limits, ...changes })
  answerParserRefusals(ctx, server)
  return server
}
