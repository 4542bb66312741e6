import type { Operation as Declared } from '../operation.ts'
import { operations } from '../operations.ts'
import { describeOperation, type Operation, type Shared } from './describe-operation.ts'

export type OpenApiDocument = ReturnType<typeof describeApi>

/** Describes the whole API, from the declarations that it serves and the schemas that validate it. */
export function describeApi(publicUrl: string, version: string) {
  const shared: Shared = { schemas: {}, parameters: {}, responses: {} }
  const paths: Record<string, Record<string, Operation>> = {}
  for (const declared of Object.values<Declared>(operations)) {
    const path = declared.path.replace(/:(\w+)/g, '{$1}')
    const methods = paths[path] ?? {}
    methods[declared.method.toLowerCase()] = describeOperation(declared, shared)
    paths[path] = methods
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Belfry',
      version,
      summary: 'A webhook scheduler.',
      description: introduction,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: publicUrl }],
    security: [],
    paths,
    components: { ...shared, securitySchemes, headers },
  }
}

/** Writes a document as JSON, in which operations refer to the parameters and responses that they share. */
export function writeApi({ paths, ...document }: OpenApiDocument): string {
  const references = new Map<unknown, { $ref: string }>()
  for (const kind of ['parameters', 'responses'] as const) {
    for (const [name, part] of Object.entries(document.components[kind])) {
      references.set(part, { $ref: `#/components/${kind}/${name}` })
    }
  }
  const written = JSON.stringify(paths, (_name, part) => references.get(part) ?? part)
  return JSON.stringify({ ...document, paths: JSON.parse(written) })
}

/** Returns the operations of a document by tag, each with its path and method. */
export function sectionsOf({ paths }: OpenApiDocument) {
  const all = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation, tag: operation.tags[0] ?? '' })),
  )
  const tags = [...new Set(all.map(({ tag }) => tag))]
  return tags.map(tag => ({ tag, title: titleOf(tag), operations: all.filter(one => one.tag === tag) }))
}

function titleOf(tag: string): string {
  const words = tag === 'cronjobs' ? 'cron jobs' : tag.replaceAll('-', ' ')
  return `${words[0]?.toUpperCase() ?? ''}${words.slice(1)}`
}

const introduction = `Call this URL at this time, retry it, keep every request and response.

Names are in snake_case, times are RFC 3339 in UTC, durations are whole milliseconds. Lists come in pages: send
\`next_cursor\` as \`cursor\` to get the next page. Repeated filters are combined with OR, different filters with AND, and
\`from\` <= t < \`to\`. A request without a body has an empty object. Unknown fields are rejected by name. Every error is a
problem body (RFC 9457) whose \`code\` is stable. Responses may gain members without notice. \`/api/v1/events\` is another path
of \`/api/events\`.`

const securitySchemes = {
  apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key', description: 'A key of one workspace.' },
  apiKeyBearer: { type: 'http', scheme: 'bearer', description: 'The same key as a bearer token, `bf_...`.' },
  session: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'The token of a signed-in user.' },
  cookie: {
    type: 'apiKey',
    in: 'cookie',
    name: 'belfry_session',
    description: 'The same token in a browser. A change requires an Origin header of this service.',
  },
}

const headers = {
  'X-Request-Id': { description: 'The id of this request in the logs.', schema: { type: 'string' } },
  'X-Session-Token': {
    description: 'Only for a bearer token older than a day: the token to use from now on. A browser gets a new cookie.',
    schema: { type: 'string' },
  },
  'Set-Cookie': { description: 'Sets or clears the session cookie of a browser.', schema: { type: 'string' } },
  Location: { description: 'The path of the created object.', schema: { type: 'string' } },
  'Idempotent-Replayed': {
    description: '`true` when this repeats the first response: the Idempotency-Key was used before.',
    schema: { type: 'string', const: 'true' },
  },
  RateLimit: {
    description: 'The remaining allowance: `r` requests, and a full allowance in `t` seconds.',
    schema: { type: 'string', examples: ['"key";r=49;t=1'] },
  },
  'RateLimit-Policy': {
    description: 'The allowance: `q` requests in `w` seconds.',
    schema: { type: 'string', examples: ['"key";q=50;w=1'] },
  },
  'Retry-After': { description: 'Seconds to wait before the next attempt.', schema: { type: 'integer' } },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string' } },
}
