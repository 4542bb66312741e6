import { setImmediate } from 'node:timers/promises'
import { createAgentServer } from '@belfry/agents'
import type { BelfryOptions } from '@belfry/client'
import { AppError } from '@belfry/domain/app-error'
import {
  createMcpHandler,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Express, Request, Response } from 'express'
import type { InjectPayload } from 'light-my-request'
import { authorize } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { injectRequest } from '../http/inject-request.ts'
import { bodyLimits, readJsonBody } from '../http/read-body.ts'
import { sendResponse } from '../http/response.ts'

/**
 * Serves the Model Context Protocol to agents, in the revisions 2026-07-28 and, with `initialize`, up to 2025-11-25. The tools
 * call the API within this process, with the credential of the agent, so they may do what it may do. Each request stands alone:
 * any process can answer it.
 */
export async function serveAgents(ctx: Context, app: Express, request: Request, response: Response): Promise<void> {
  if (request.method !== 'POST') {
    response.setHeader('Allow', 'POST')
    throw new AppError('method_not_allowed', 'This path supports POST.')
  }
  await authorize(ctx, request, 'task.read', {})
  const message = await readMessage(request, response)
  // The API parses the arguments again: let other events run in between.
  await setImmediate()
  const agent = request.headers['x-belfry-agent'] ?? request.headers['user-agent'] ?? 'unknown'
  const options = { ...credentialsOf(request), baseUrl: 'http://belfry', fetch: within(app, request), maxRetries: 0 }
  const server = createAgentServer(options, String(agent))
  response.once('close', () => void server.close())
  const sent = new Request('http://belfry/mcp', { method: 'POST', headers: request.headers as Record<string, string> })
  const parsed = { parsedBody: message }
  // The handler would stream each answer to a client of an earlier revision.
  const legacy = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  const isLegacy = await isLegacyRequest(sent, message)
  if (isLegacy) await server.connect(legacy)
  const answer = await (isLegacy
    ? legacy.handleRequest(sent, parsed)
    : createMcpHandler(() => server, notListening).fetch(sent, parsed))
  const headers = Object.fromEntries(answer.headers)
  await sendResponse(response, { status: answer.status, headers, text: await answer.text() })
}

// The tools never change while a process runs, so a client that listens for a change would only hold a connection.
const notListening = { legacy: 'reject', maxSubscriptions: 0 } as const

// The arguments of a call lie two levels below the message.
const limits = { ...bodyLimits, maxDepth: bodyLimits.maxDepth + 2 }
const maxItems = 100

async function readMessage(request: Request, response: Response): Promise<unknown> {
  const { value } = await readJsonBody(request, response, limits)
  // The answers of all calls would be in memory together.
  if (Array.isArray(value)) throw new AppError('malformed_json', 'Send one message in each request.')
  const { arguments: given } = Object(Object(value).params) as { arguments?: unknown }
  const { payload: _, ...others } = Object(given) as Record<string, unknown>
  // Each item of a list becomes a parameter of a query, or a separate error.
  for (const [name, one] of [['arguments', others], ...Object.entries(others)] as const) {
    if (typeof one !== 'object' || one === null || Object.keys(one).length <= maxItems) continue
    throw new AppError('malformed_json', `${name} has more than ${maxItems} items.`)
  }
  return value
}

function credentialsOf({ headers }: Request) {
  const bearer = /^Bearer +(\S+)$/i.exec(headers.authorization ?? '')?.[1]
  const key = headers['x-api-key'] ?? (bearer?.startsWith('bf_') ? bearer : undefined)
  if (key !== undefined) return { apiKey: String(key) }
  if (bearer === undefined) throw new AppError('unauthenticated', 'Send an API key in X-Api-Key or as a bearer token.')
  const workspaceId = headers['x-workspace-id']
  return { sessionToken: bearer, ...(workspaceId === undefined ? {} : { workspaceId: String(workspaceId) }) }
}

// Sends a request to the application without a socket, from the address and to the host of the agent's request.
function within(app: Express, { headers, socket }: Request): NonNullable<BelfryOptions['fetch']> {
  return async (url, init) => {
    const { pathname, search } = new URL(String(url))
    // Who has sent it, and in which chain of calls.
    const kept = ['x-forwarded-for', 'x-belfry-depth', 'traceparent'].flatMap(name =>
      headers[name] === undefined ? [] : [[name, String(headers[name])]],
    )
    await setImmediate()
    const answer = await injectRequest(app, {
      method: (init?.method ?? 'GET') as 'GET',
      url: pathname + search,
      headers: {
        ...(init?.headers as Record<string, string>),
        host: headers.host ?? 'localhost',
        ...Object.fromEntries(kept),
      },
      ...(socket.remoteAddress === undefined ? {} : { remoteAddress: socket.remoteAddress }),
      ...(init?.body ? { payload: init.body as InjectPayload } : {}),
    })
    await setImmediate()
    const body = answer.statusCode === 204 ? null : answer.payload
    return new Response(body, { status: answer.statusCode, headers: answer.headers as Record<string, string> })
  }
}
