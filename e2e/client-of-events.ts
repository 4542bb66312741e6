import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import {
  createMCPClient,
  experimental_createMCPEventWebhook as createWebhook,
  type Experimental_MCPEvents as Events,
} from '@ai-sdk/mcp'
import { waitFor } from '@belfry/test-support/wait-for'

type Webhook = Parameters<typeof createWebhook>[0]
type Event = Parameters<Webhook['onEvent']>[0]['event']
type Stored = NonNullable<Awaited<ReturnType<Webhook['store']['get']>>>

/** The unchanged client of the AI SDK, with its webhook on a free port. */
export type ClientOfEvents = {
  events: Events
  subscribe(name: string, given: Record<string, unknown>): ReturnType<Events['subscribe']>
  /** Waits for a number of different events of a subscription, and returns them with their times. */
  received(id: string, count: number, timeoutMs?: number): Promise<Array<{ event: Event; at: number }>>
  /** Waits for the first messages about a subscription itself, and returns their types. */
  told(id: string, count: number): Promise<string[]>
  /** Answers the next event of a subscription with a status. */
  refuseNext(id: string, status: number): void
  /** Returns the ids of the events that were refused. */
  refused(id: string): string[]
  close(): Promise<void>
}

/** Connects to an MCP server over HTTP. */
export async function aClientOfEvents(url: string, headers: Record<string, string>): Promise<ClientOfEvents> {
  const stored = new Map<string, Stored>()
  const store: Webhook['store'] = {
    get: async key => stored.get(key),
    getById: async id => [...stored.values()].find(one => one.id === id),
    set: async subscription => void stored.set(subscription.key, subscription),
    update: async (key, patch) => void stored.set(key, { ...(stored.get(key) as Stored), ...patch }),
    delete: async key => void stored.delete(key),
  }
  const events = new Map<string, Map<string, { event: Event; at: number }>>()
  const told = new Map<string, string[]>()
  const tell = async ({ subscription: { id } }: { subscription: { id: string } }, type: string) =>
    void told.set(id, [...(told.get(id) ?? []), type])
  const refusals = new Map<string, number>()
  const refused = new Map<string, string[]>()
  const webhook = createWebhook({
    store,
    onGap: given => tell(given, 'gap'),
    onTerminated: given => tell(given, `terminated ${given.termination.error.code}`),
    async onEvent({ subscription: { id }, event }) {
      const own = events.get(id) ?? new Map()
      events.set(id, own)
      if (!own.has(event.eventId)) own.set(event.eventId, { event, at: Date.now() })
    },
  })
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray())
    const id = String(request.headers['x-mcp-subscription-id'])
    const status = refusals.get(id)
    if (status !== undefined && !body.includes('"verification"')) {
      refusals.delete(id)
      refused.set(id, [...(refused.get(id) ?? []), String(request.headers['webhook-id'])])
      response.writeHead(status).end()
      return
    }
    const own = Object.entries(request.headers).map(([name, value]): [string, string] => [name, String(value)])
    const answer = await webhook(new Request(`http://127.0.0.1${request.url}`, { method: 'POST', headers: own, body }))
    response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const client = await createMCPClient({ transport: { type: 'http', url, headers }, experimental_events: { store } })
  return {
    events: client.experimental_events,
    subscribe: (name, given) =>
      client.experimental_events.subscribe({
        name,
        arguments: given as never, // JSON
        delivery: { mode: 'webhook', url: `http://127.0.0.1:${port}/hook`, allowInsecureLocalhost: true },
      }),
    received: (id, count, timeoutMs = 30_000) =>
      waitFor(
        async () => [...(events.get(id)?.values() ?? [])],
        found => found.length >= count,
        timeoutMs,
      ),
    told: (id, count) =>
      waitFor(
        async () => told.get(id) ?? [],
        found => found.length >= count,
      ),
    refuseNext: (id, status) => void refusals.set(id, status),
    refused: id => refused.get(id) ?? [],
    async close() {
      await client.close()
      server.closeAllConnections()
      server.close()
    },
  }
}
