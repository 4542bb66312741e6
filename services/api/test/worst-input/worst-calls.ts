import { expect } from 'vitest'
import { qstashRoutes } from '../../src/qstash/qstash.ts'
import { anOrganization, trust } from '../organization.ts'
import { allRoutes, type Route } from '../permissions/all-routes.ts'
import { objects } from '../permissions/objects.ts'
import { requests } from '../permissions/requests.ts'
import type { Json, TestApi } from '../setup.ts'
import type { FullOrganization } from './full-organization.ts'
import { bodiesOf, worstValues } from './worst-values.ts'

/** A request that is made again for each measurement, because it may end what it needs. */
export type WorstCall = {
  operation: string
  prepare(): Promise<{ method: string; path: string; headers: Record<string, string>; body?: string }>
}

const json = { 'Content-Type': 'application/json' }

/** Returns the worst requests to every operation of the OpenAPI document. Reads are of a full organization, all others of a new one. */
export function callsOfTheApi(api: TestApi, document: Json, full: FullOrganization): WorstCall[] {
  const event = { topic: 'a-group', payload: {} }
  const fanOut = {
    operation: 'POST /api/events',
    prepare: async () => ({
      method: 'POST',
      path: '/api/events',
      headers: { ...full.headers, ...json },
      body: JSON.stringify(event),
    }),
  }
  const calls = allRoutes().flatMap(route => {
    const description = document.paths[route.path.replace(/:(\w+)/g, '{$1}')][route.method.toLowerCase()]
    const queries = route.method === 'GET' ? queriesOf(description.parameters ?? []) : []
    const given = requests[route.name]
    const bodies = given?.body ? worstBodies(given.body() as Json, description) : [undefined]
    return [given?.query ?? '', ...queries].flatMap(query =>
      bodies.map(body => ({
        operation: route.name.replace(/:(\w+)/g, '{$1}'),
        async prepare() {
          const { ids, headers } = route.method === 'GET' ? full : await aNewOrganization(api, route)
          const path = route.path.replace(/:(\w+)/g, (_, name) => ids[name] ?? '00000000000000000000000000') + query
          return { method: route.method, path, headers: { ...headers, ...json }, ...(body && { body }) }
        },
      })),
    )
  })
  return [...calls, fanOut]
}

function worstBodies(valid: Json, { requestBody }: Json): string[] {
  const properties = requestBody?.content['application/json'].schema.properties ?? {}
  const main = 'payload' in properties ? 'payload' : (Object.keys(valid)[0] ?? 'payload')
  return bodiesOf(valid, main).map(body => JSON.stringify(body))
}

/** Returns queries: the longest page, and every parameter with its last or its longest value. */
function queriesOf(parameters: Json[]): string[] {
  const inQuery = parameters.filter(one => one.in === 'query')
  const longest = ({ schema }: Json): string =>
    String(
      schema.enum?.at(-1) ?? schema.maximum ?? (schema.type === 'boolean' ? true : 'x'.repeat(schema.maxLength ?? 200)),
    )
  const needed = inQuery.filter(({ name, required }) => required || name === 'limit')
  const lists = inQuery.map(one => {
    const item = one.schema.items ?? one.schema
    return Array(one.schema.items ? 50 : 1)
      .fill(`${one.name}=${encodeURIComponent(longest({ schema: item }))}`)
      .join('&')
  })
  const single = inQuery.map((one, i) => [
    ...needed.filter(other => other !== one).map(other => `${other.name}=${longest(other)}`),
    lists[i],
  ])
  return [needed.map(one => `${one.name}=${longest(one)}`).join('&'), ...single.map(parts => parts.join('&'))]
    .filter(query => query !== '')
    .map(query => `?${query}`)
}

async function aNewOrganization(api: TestApi, { params, name }: Route) {
  const organization = await anOrganization(api, 'unlimited')
  await trust(api, organization.owner)
  const ids: Record<string, string> = {}
  for (const param of params) {
    ids[param] = String(await objects[requests[name]?.objects?.[param] ?? param]?.(api, organization))
  }
  return { ids, headers: { ...organization.owner.session, 'X-Workspace-Id': organization.workspaceId } }
}

/** Returns the worst requests to every endpoint below `/v2`. */
export async function callsOfQstash({ organization, ids }: FullOrganization): Promise<WorstCall[]> {
  const { 'X-Api-Key': key } = await organization.apiKey()
  const { message = '', schedule = '', dead = '' } = ids
  const names: Record<string, string> = { messages: message, schedules: schedule, dlq: dead, topics: 'a-group' }
  const publish = { destination: 'https://example.com/', body: 'x' }
  const parts = [
    publish,
    { endpoints: [{ url: 'https://example.com/' }] },
    { messageIds: [message] },
    { dlqIds: [dead] },
  ]
  const bodies = [worstValues[0], ...parts, ...bodiesOf(Object.assign({}, ...parts), 'body'), ...listsOfQstash(publish)]
  const many = Object.fromEntries(Array.from({ length: 12 }, (_, i) => [`Upstash-Forward-${i}`, 'x'.repeat(1_000)]))
  const toGroup = {
    operation: 'POST /v2/publish/a-group',
    prepare: async () => ({
      method: 'POST',
      path: '/v2/publish/a-group',
      // All headers that are allowed, and with the body nearly 16 MiB for all endpoints.
      headers: { ...json, Authorization: `Bearer ${key}`, ...Object.fromEntries(Object.entries(many).slice(0, 8)) },
      body: 'x'.repeat(9_000),
    }),
  }
  const calls = qstashRoutes.flatMap(([pattern, methods]) => {
    const path =
      typeof pattern === 'string'
        ? pattern.replace(/:\w+/, names[pattern.split('/')[1] ?? ''] ?? 'a-name')
        : exampleOf(pattern)
    return Object.keys(methods).flatMap(verb => {
      const method = verb.toUpperCase()
      const content = method === 'GET' ? [undefined] : bodies
      return content.map(body => ({
        operation: `${method} /v2${pattern instanceof RegExp ? path : pattern}`,
        prepare: async () => ({
          method,
          path: `/v2${path}${method === 'GET' ? '?count=1000' : ''}`,
          headers: { ...json, Authorization: `Bearer ${key}`, 'Upstash-Cron': '0 0 1 1 *', ...many },
          ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
        }),
      }))
    })
  })
  return [...calls, toGroup]
}

const listsOfQstash = (message: Json) => [
  Array(1_000).fill(message),
  Array(5).fill({ ...message, destination: 'a-group' }),
  Array(20).fill({ ...message, body: worstValues[0] }),
]

/** Returns a path that an expression of the router matches. */
function exampleOf(pattern: RegExp): string {
  const path = pattern.source
    .replace('^', '')
    .replaceAll('\\/', '/')
    .replace('([^/]+)', 'a-name')
    .replace(/\.$/, 'https://example.com/')
  expect(path).toMatch(pattern)
  return path
}

/** Returns the worst calls of every tool of `/mcp`. */
export async function callsOfAgents(api: TestApi, { organization, ids }: FullOrganization): Promise<WorstCall[]> {
  const headers = { ...json, ...(await organization.apiKey()), Accept: 'application/json, text/event-stream' }
  const bodyOf = (method: string, params: Json) => ({ jsonrpc: '2.0', id: 1, method, params })
  const { text } = await api.send('POST', '/mcp', bodyOf('tools/list', {}), headers)
  const { tools } = JSON.parse(text).result
  return tools.flatMap(({ name, inputSchema }: Json) => {
    const entries = Object.entries<Json>(inputSchema.properties ?? {})
    const valid = Object.fromEntries(
      entries.flatMap(([member, schema]) => exampleOfMember(member, schema, inputSchema, ids)),
    )
    const all = [valid, ...entries.flatMap(([member]) => worstValues.map(value => ({ ...valid, [member]: value })))]
    return all.map(given => ({
      operation: `${name} of /mcp`,
      prepare: async () => ({
        method: 'POST',
        path: '/mcp',
        headers,
        body: JSON.stringify(bodyOf('tools/call', { name, arguments: given })),
      }),
    }))
  })
}

function exampleOfMember(
  name: string,
  schema: Json,
  { required = [] }: Json,
  ids: Record<string, string>,
): [string, unknown][] {
  if (name === 'limit') return [[name, schema.maximum]]
  if (!required.includes(name)) return []
  const known: Record<string, unknown> = {
    task_id: ids.task,
    run_id: ids.run,
    cron: '* * * * *',
    url: 'https://example.com/',
    topic: 'topic.1',
  }
  return [
    [name, known[name] ?? schema.enum?.[0] ?? (schema.type === 'array' ? [] : schema.type === 'object' ? {} : 'x')],
  ]
}
