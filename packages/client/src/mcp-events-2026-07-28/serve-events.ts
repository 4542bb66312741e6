import type { Belfry } from '../belfry.ts'
import { toCamel } from '../case.ts'
import type { Condition } from '../types/index.ts'

// MCP Events: https://github.com/modelcontextprotocol/experimental-ext-triggers-events. It is a draft: names and codes may change.

/** A type of event that clients of an MCP server can subscribe to. */
export type EventDefinition = {
  name: string
  description: string
  /** The JSON Schema of the arguments of a subscription. */
  inputSchema: object
  /** The JSON Schema of the payload of an event. */
  payloadSchema: object
  /** The topics under which the server publishes it. Default: its name. */
  topic?(given: Arguments): string
  /** The conditions on the payload. Default: each argument equals the member of its name. */
  filter?(given: Arguments): Condition[]
}

type Arguments = Record<string, unknown>

/** The `Server` of the official SDK, in any version; `McpServer` has it as its member `server`. */
export type EventServer<Context> = {
  registerCapabilities(capabilities: object): void
  setRequestHandler(
    method: string,
    schemas: { params: typeof anyParams },
    handler: (params: Arguments, context: Context) => Promise<Arguments>,
  ): void
}

export type EventsOptions<Context> = {
  events: readonly EventDefinition[]
  /**
   * Returns who sends a request, such as the subject of its token. It separates the subscriptions of users from each other, so a
   * request without a user must be refused before. Not called for the events of Belfry itself.
   */
  principal?(context: Context): string
}

/**
 * Lets the clients of an MCP server subscribe to events. Belfry delivers them signed and with retries, even after a restart of
 * the server. An event is `belfry.events.publish({ topic, payload })`. Call it before the server connects.
 *
 * @example
 * serveEvents(server, belfry, { events, principal: context => context.http.authInfo.clientId })
 */
export function serveEvents<Context>(
  server: EventServer<Context>,
  belfry: Pick<Belfry, 'request'>,
  { events, principal }: EventsOptions<Context>,
): void {
  const identityOf = (params: Arguments, context: Context) => {
    const {
      name,
      arguments: given = {},
      delivery,
    } = params as { name?: string; arguments?: Arguments; delivery?: object }
    const event = events.find(one => one.name === name)
    if (!event) throw new RpcError(-32011, `There is no event ${name}.`, { kind: 'event' })
    const { mode = 'webhook', url, secret } = Object(delivery) as Record<string, unknown>
    if (mode !== 'webhook')
      throw new RpcError(-32014, 'Events are delivered by webhook.', { feature: 'deliveryMode', value: mode })
    const identity = { name, arguments: given, url, ...(principal ? { principal: principal(context) } : {}) }
    return { event, given, secret, identity }
  }
  server.registerCapabilities({ events: {} })
  server.setRequestHandler('events/list', { params: anyParams }, async () => ({
    events: events.map(({ name, description, inputSchema, payloadSchema }) => {
      return { name, description, delivery: ['webhook'], inputSchema, payloadSchema }
    }),
  }))
  server.setRequestHandler('events/subscribe', { params: anyParams }, async (params, context) => {
    const { event, given, secret, identity } = identityOf(params, context)
    const chosen = { topic: event.topic?.(given), filter: event.filter?.(given), ttl_ms: params.ttlMs }
    const body = { ...identity, secret, ...chosen }
    const subscription = await call<Subscription>(belfry, '/api/v1/mcp-subscriptions', body)
    const { failed_since, ...status } = subscription.delivery_status
    return {
      id: subscription.id,
      refreshBefore: subscription.refresh_before,
      // Belfry repeats what was not accepted, and has no past events.
      cursor: null,
      truncated: false,
      deliveryStatus: toCamel({ ...status, ...(failed_since === null ? {} : { failed_since }) }),
    }
  })
  server.setRequestHandler('events/unsubscribe', { params: anyParams }, async (params, context) => {
    await call(belfry, '/api/v1/mcp-subscriptions/unsubscribe', identityOf(params, context).identity)
    return {}
  })
}

type Subscription = { id: string; refresh_before: string | null; delivery_status: { failed_since: string | null } }

// The API checks the parameters.
const anyParams = {
  '~standard': {
    version: 1 as const,
    vendor: 'belfry',
    validate: (value: unknown) => ({ value: Object(value) as Arguments }),
  },
}

/** An error that the SDK sends as it is. */
class RpcError extends Error {
  readonly code: number
  readonly data: object

  constructor(code: number, message: string, data: object) {
    super(message)
    this.code = code
    this.data = data
  }
}

const codes: Record<string, number> = {
  validation_failed: -32602,
  not_found: -32011,
  unauthenticated: -32012,
  forbidden: -32012,
  conflict: -32013,
  quota_exceeded: -32013,
  rate_limited: -32013,
  callback_refused: -32015,
}

async function call<T>(belfry: Pick<Belfry, 'request'>, path: string, body: object): Promise<T> {
  try {
    return await belfry.request<T>('POST', path, { body })
  } catch (error) {
    const { code, body: problem } = Object(error) as { code?: string; body?: Record<string, unknown> }
    const rpcCode = codes[String(code)]
    if (rpcCode === undefined || !problem) throw error
    const { detail, errors, reason, limit, max } = problem
    const kind = rpcCode === -32011 ? 'subscription' : undefined
    throw new RpcError(rpcCode, String(detail), { errors, reason, limit, max, kind })
  }
}
