import { setImmediate } from 'node:timers/promises'
import { ApiError, Belfry, type BelfryOptions, ExactNumber, stringifyJson } from '@belfry/client'
import { serveEvents } from '@belfry/client/mcp'
import { version } from '@belfry/domain/version'
import { type CallToolResult, CLIENT_INFO_META_KEY, Server } from '@modelcontextprotocol/server'
import { events } from './events.ts'
import { type Arguments, tools } from './tools.ts'

const instructions = `Belfry calls URLs: at a time, on a cron schedule, or now, and keeps every request and response.
A task is one request that Belfry makes, with retries. A cron job makes tasks on a schedule. A run is one attempt of a task.
To find out why something failed, call explain_task. Times are ISO 8601 with a time zone, durations such as "90s", "15m", "3d".`

// Its default compiles a validator for every server. These servers ask agents for no input that needs one.
const jsonSchemaValidator = {
  getValidator() {
    throw new Error('No input is asked for.')
  },
}

/**
 * Returns a server of the Model Context Protocol with the tools and the events of one workspace. The credential of the client
 * decides what they may do.
 * @param agent - The name that the audit log shows. Default: the name of the connected client.
 */
export function createAgentServer(options: BelfryOptions, agent?: string): Server {
  const capabilities = { tools: {} }
  const server = new Server({ name: 'belfry', version }, { capabilities, instructions, jsonSchemaValidator })
  const send = options.fetch ?? globalThis.fetch
  // Since 2026-07-28 each request names its client.
  let client: string | undefined
  const belfry = new Belfry({
    ...options,
    fetch(url, init) {
      const name = agent ?? client ?? server.getClientVersion()?.name ?? 'unknown'
      return send(url, { ...init, headers: { ...init?.headers, 'X-Belfry-Agent': printable(name) } })
    },
  })
  server.setRequestHandler('tools/list', () => ({
    tools: Object.entries(tools).map(([name, { run: _, ...tool }]) => ({ name, ...tool })),
  }))
  server.setRequestHandler('tools/call', ({ params: { name, arguments: given = {} } }, { mcpReq }) => {
    const { [CLIENT_INFO_META_KEY]: sender } = (mcpReq.envelope ?? {}) as Envelope
    client = sender?.name
    return resultOf(belfry, name, given)
  })
  serveEvents(server, belfry, { events })
  return server
}

type Envelope = { [CLIENT_INFO_META_KEY]?: { name: string } }

// A header has no other characters.
function printable(text: string): string {
  return text.replace(/[^ -~]/g, '?').slice(0, 100)
}

/** Returns the result of a tool: a value as JSON and as an object, or the refusal of the API as an error that the agent can read. */
async function resultOf(belfry: Belfry, name: string, given: Arguments): Promise<CallToolResult> {
  try {
    const tool = Object.hasOwn(tools, name) ? tools[name] : undefined
    if (!tool) throw new TypeError(`There is no tool ${name}.`)
    // The client converts texts, before the API can refuse another value.
    for (const [field, { type }] of Object.entries(tool.inputSchema.properties)) {
      const isText = given[field] === undefined || typeof given[field] === 'string'
      if (type === 'string' && !isText) throw new TypeError(`${field} must be a string.`)
    }
    const result = await tool.run(belfry, given)
    // A payload of 256 KiB takes some of an event-loop iteration to read, and some of another to write.
    await setImmediate()
    const text = stringifyJson(result)
    return { content: [{ type: 'text', text }], structuredContent: structured(result, text) }
  } catch (error) {
    if (!(error instanceof ApiError || error instanceof TypeError)) throw error
    const text = error instanceof ApiError ? `${error.code}: ${error.message}` : error.message
    return { isError: true, content: [{ type: 'text', text }] }
  }
}

// Wraps lists: `structuredContent` must be an object in the revision 2025-11-25.
function structured(result: unknown, text: string): Record<string, unknown> {
  const object = Array.isArray(result) ? { data: result } : Object(result)
  // As a number of JavaScript, a long one would lose its digits.
  if (!mayBeExact.test(text)) return object
  return JSON.parse(JSON.stringify(object, (_, member) => (member instanceof ExactNumber ? member.toString() : member)))
}

const mayBeExact = /\d[\d.]{15}|\d[eE][+-]?\d/
