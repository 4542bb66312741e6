// An MCP server whose clients subscribe to comments on documents. Belfry keeps the subscriptions, and delivers the events.
import { Belfry } from '@belfry/client'
import { serveEvents } from '@belfry/client/mcp'
import { serve } from '@hono/node-server'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { Hono } from 'hono'

const belfry = new Belfry() // reads BELFRY_URL and BELFRY_API_KEY

const properties = { document: { type: 'string' } }
const events = [
  {
    name: 'comment.created',
    description: 'A comment on the document was written.',
    inputSchema: { type: 'object', properties, required: ['document'] },
    payloadSchema: { type: 'object', properties: { ...properties, text: { type: 'string' } } },
  },
]

const mcp = createMcpHandler(() => {
  const server = new McpServer({ name: 'documents', version: '1.0.0' })
  serveEvents(server.server, belfry, { events, principal: ({ http }) => String(http?.authInfo?.clientId) })
  return server
})

// In place of your identity provider.
const users = new Map([['token-of-ada', 'ada']])

const app = new Hono()
app.all('/mcp', async ({ req }) => {
  const token = req.header('Authorization')?.replace('Bearer ', '') ?? ''
  const clientId = users.get(token)
  if (clientId === undefined) return new Response(null, { status: 401 })
  return mcp.fetch(req.raw, { authInfo: { token, clientId, scopes: [] } })
})
app.post('/comments', async ({ req, body }) => {
  await belfry.events.publish({ topic: 'comment.created', payload: await req.json() })
  return body(null, 204)
})
serve({ fetch: app.fetch, port: Number(process.env.PORT ?? 8787) })
