import { newUuid, toId } from '@belfry/domain/id'
import type { Actor } from './actor.ts'
import { type Memory, type Schema, strangeValue, validValue } from './generate-value.ts'
import type { Random } from './random.ts'

/** One operation of the OpenAPI document. */
export type Operation = { path: string; method: string; description: Schema }

/** A request, and the known properties of its response. */
export type FuzzRequest = {
  operation: Operation | null
  method: string
  path: string
  headers: Record<string, string>
  body: string | undefined
  /** Whether it has credentials that the operation accepts, as far as the document says. */
  authenticated: boolean
  /** Whether its query is certainly invalid. */
  badQuery: boolean
}

const odds = { unknownPath: 0.02, unknownMethod: 0.02, anonymous: 0.06, foreign: 0.05, strange: 0.4 }
const contentTypes = ['text/plain', 'application/xml', 'application/json; charset=latin1', '']

/**
 * Makes one request of an operation.
 * @param stranger - Another caller, whose ids the actor tries sometimes.
 */
export function generateRequest(operation: Operation, actor: Actor, stranger: Actor, random: Random): FuzzRequest {
  const memory = memoryOf(random.chance(odds.foreign) ? { ...actor, ids: stranger.ids } : actor, random)
  const authenticated = !random.chance(odds.anonymous)
  const headers = { ...credentials(operation, actor, authenticated, random), ...requestId(random) }
  const { query, badQuery } = generateQuery(operation, memory, random)
  const path = fillPath(operation, actor, memory, random) + query
  const request = { operation, method: operation.method, path, authenticated, badQuery }
  if (random.chance(odds.unknownPath)) {
    return {
      ...request,
      operation: null,
      path: `/api/${random.pick(['v2', '%00', '..%2f', 'v1/nothing'])}`,
      headers,
      body: undefined,
    }
  }
  if (random.chance(odds.unknownMethod)) {
    return { ...request, operation: null, method: 'OPTIONS', headers, body: undefined }
  }
  const schema = operation.description.requestBody?.content['application/json'].schema
  const body = schema && generateBody(schema, memory, random)
  const type = body !== undefined && random.chance(0.97) ? 'application/json' : random.pick(contentTypes)
  return { ...request, headers: body === undefined ? headers : { ...headers, 'Content-Type': type }, body }
}

function credentials(
  { description }: Operation,
  { key, session, workspaceId }: Actor,
  valid: boolean,
  random: Random,
): Record<string, string> {
  const takesKey = description.security.some((scheme: Schema) => 'apiKey' in scheme)
  if (!valid) {
    const nothing = [{}, { 'X-Api-Key': 'bf_nothing' }, { 'X-Api-Key': '' }, { Authorization: 'Bearer x.y.z' }]
    return random.pick<Record<string, string>>([...nothing, { Cookie: 'belfry_session=x' }])
  }
  if (takesKey && random.chance(0.7)) return key
  return { ...session, ...(random.chance(0.95) ? { 'X-Workspace-Id': workspaceId } : {}) }
}

function requestId(random: Random): Record<string, string> {
  return random.chance(0.1) ? { 'X-Request-Id': random.pick(['a-name', 'not well formed', 'x'.repeat(200)]) } : {}
}

function memoryOf({ ids, values }: Actor, random: Random): Memory {
  const oneOf = (known: string[] = []) => (known.length > 0 ? random.pick(known) : undefined)
  return { id: kind => oneOf(ids.get(kind)), value: name => oneOf(values.get(name)) }
}

function fillPath({ path, description }: Operation, actor: Actor, memory: Memory, random: Random): string {
  return path.replace(/\{(\w+)\}/g, (_match, name: string) => {
    const { schema } = description.parameters.find((each: Schema) => each.in === 'path' && each.name === name)
    const kind = /^\^(\w+?)_/.exec(schema.pattern ?? '')?.[1]
    if (!kind && random.chance(0.8)) return memory.value(name) ?? 'validation_failed'
    if (!kind) return encodeURIComponent(random.pick(['x', '...', '\0', 'ä'.repeat(300)]))
    if (random.chance(0.1)) return encodeURIComponent(random.pick([`${kind}_x`, 'null', '%', '\0', 'x'.repeat(2000)]))
    if (random.chance(0.1)) return toId(kind as 'task', newUuid())
    if (kind === 'ws') return actor.workspaceId
    if (kind === 'org') return actor.organizationId
    return memory.id(kind) ?? toId(kind as 'task', newUuid())
  })
}

function generateQuery(
  { description }: Operation,
  memory: Memory,
  random: Random,
): { query: string; badQuery: boolean } {
  const parameters = description.parameters.filter((each: Schema) => each.in === 'query')
  const pairs: [string, string][] = []
  for (const { name, schema } of parameters) {
    if (name === 'cursor' ? !random.chance(0.05) : !random.chance(0.2)) continue
    const value = random.chance(0.2) ? strangeValue(schema, random, memory) : validValue(schema, random, memory)
    for (const each of [value].flat())
      pairs.push([name, typeof each === 'object' ? JSON.stringify(each) : String(each)])
  }
  const unknown = random.chance(0.05)
  if (unknown) pairs.push(['no_such_parameter', '1'])
  const query = new URLSearchParams(pairs).toString()
  return { query: query && `?${query}`, badQuery: unknown && parameters.length > 0 }
}

function generateBody(schema: Schema, memory: Memory, random: Random): string {
  if (random.chance(0.02))
    return random.pick(['', '{', 'null', '[]', '{"a":1}}', '\ufeff{}', '['.repeat(100_000), '{"a":"\\ud800"}'])
  if (random.chance(0.005)) return JSON.stringify({ name: 'x'.repeat(300_000) })
  return JSON.stringify(
    random.chance(odds.strange) ? strangeValue(schema, random, memory) : validValue(schema, random, memory),
  )
}
