import { type AppErrorCode, appErrorCodes } from '@belfry/domain/app-error'
import type { IdKind } from '@belfry/domain/id'
import { idPattern } from '@belfry/domain/id-pattern'
import { rights } from '@belfry/domain/permissions'
import { queueNameForm } from '@belfry/domain/queue-name'
import type { z } from 'zod'
import { briefFormOf } from '../brief-forms.ts'
import { connectionNamePattern } from '../connection.ts'
import {
  currentWorkspace,
  type Operation as Declared,
  pathParameters as namesIn,
  pathIds,
  type Right,
  type SuccessResponse,
} from '../operation.ts'
import { problem, problems } from '../problem.ts'
import { secretName } from '../secret.ts'
import { exampleId } from '../text-rules.ts'
import { exampleOf, resolve } from './example.ts'
import { fieldTexts } from './field-texts.ts'
import { type Components, type JsonSchema, toJsonSchema } from './json-schema.ts'
import recorded from './recorded-responses.json' with { type: 'json' }

export type Parameter = {
  name: string
  in: 'path' | 'query' | 'header'
  required: boolean
  description?: string
  schema: JsonSchema
}

type Content = Record<string, { schema: JsonSchema; example?: unknown }>
type Response = { description: string; headers: Record<string, unknown>; content?: Content }

/** What operations share, by name: the same objects that the operations have. */
export type Shared = {
  schemas: Components
  parameters: Record<string, Parameter>
  responses: Record<string, Response>
}

/** Describes one operation. Adds the named parts of its schemas, its parameters and its problems to the shared parts. */
export function describeOperation(declared: Declared, shared: Shared) {
  const { method, path, response, body } = declared
  const { schemas } = shared
  const ownSuccess = successResponse(response, declared, schemas)
  const success = ownSuccess.content ? ownSuccess : share(ownSuccess, String(response.status), shared.responses)
  const parameters = [...pathParameters(path), ...queryParameters(declared, schemas), ...headers(declared)]
  const responses: Record<string, Response> = {
    [response.status]: success,
    ...(response.orStatus ? { [response.orStatus]: success } : {}),
    ...problemResponses(declared, shared),
  }
  return {
    operationId: operationId(method.toLowerCase(), path),
    tags: [tagOf(path)],
    summary: declared.summary,
    ...(declared.description ? { description: declared.description } : {}),
    security: securityOf(declared),
    parameters: parameters.map(one => share(one, `${one.in}.${one.name}`, shared.parameters)),
    ...(body ? { requestBody: requestBody(body, schemas) } : {}),
    responses,
  }
}

/** One method of one path in OpenAPI 3.1. */
export type Operation = ReturnType<typeof describeOperation>

// Returns the name of an operation in generated clients, such as `postSchedulerCronjobsPause`.
function operationId(method: string, path: string): string {
  const words = path
    .replace('/:token/', '/token/') // the same operation also exists with the token in the body
    .split(/[/.]/)
    .filter(word => word !== '' && !/^(api|v1|:.*)$/.test(word))
  const singular = /\/:\w+$/.test(path) ? ['one'] : []
  // One task is stopped below its id, many are without.
  const plural = /\/tasks\/(cancel|stop)$/.test(path) ? ['many'] : []
  const rest = [...words, ...singular, ...plural]
    .flatMap(word => word.split('-'))
    .map(word => `${word[0]?.toUpperCase()}${word.slice(1)}`)
  return `${method}${rest.join('')}`
}

function tagOf(path: string): string {
  const [, first, second = '', third = '', fourth] = path.split('/').filter(part => part !== 'v1')
  if (first !== 'api') return 'operating'
  if (second === 'scheduler') return third
  if (second === 'operator') return 'operators'
  if (second === 'organizations' || second === 'workspaces') return fourth ?? second
  return second.replace('.json', '')
}

function securityOf({ right }: Declared): Record<string, string[]>[] {
  if (right === 'public') return []
  const session = [{ session: [] }, { cookie: [] }]
  return right !== 'signed_in' && right !== 'operator' && rights[right].apiKey
    ? [{ apiKey: [] }, { apiKeyBearer: [] }, ...session]
    : session
}

// Path parameters that are not ids.
const textParameters: Readonly<Record<string, JsonSchema>> = {
  name: secretName,
  connection: { pattern: connectionNamePattern, examples: ['billing-api'] },
  queue: { pattern: queueNameForm.source, examples: ['customer-42'] },
  token: { minLength: 1, examples: ['dGhlIHRva2VuIG9mIGFuIGludml0YXRpb24'] },
  code: { enum: appErrorCodes },
}

function pathParameters(path: string): Parameter[] {
  const kinds: Readonly<Record<string, IdKind>> = pathIds
  return namesIn(path).map(name => {
    const kind = kinds[name]
    const described = kind ? idSchema(kind) : textParameters[name]
    const { description = fieldTexts[`:${name}`], ...schema } = { type: 'string', ...described } as JsonSchema
    return { name, in: 'path', required: true, description: String(description), schema }
  })
}

function idSchema(kind: IdKind): JsonSchema {
  const examples = [exampleId(kind)]
  if (kind !== 'ws') return { pattern: idPattern(kind), examples }
  const pattern = `${idPattern(kind)}|^${currentWorkspace}$`
  return { pattern, description: `\`${currentWorkspace}\` is the workspace of the API key.`, examples }
}

function queryParameters({ query }: Declared, components: Components): Parameter[] {
  if (!query) return []
  const { properties = {}, required = [] } = resolve(toJsonSchema(query, 'input', components, '?'), components)
  return Object.entries(properties as Components).map(([name, { description, ...schema }]) => ({
    name,
    in: 'query',
    required: (required as string[]).includes(name),
    ...(typeof description === 'string' ? { description } : {}),
    schema,
  }))
}

// A part that differs from the shared one of its name belongs to its operation alone.
function share<Part>(part: Part, name: string, parts: Record<string, Part>): Part {
  parts[name] ??= part
  const known = parts[name]
  return JSON.stringify(known) === JSON.stringify(part) ? known : part
}

function headers({ right, path, isIdempotent }: Declared): Parameter[] {
  return [
    ...(isInWorkspace(right) && !namesIn(path).includes('ws') ? [workspaceId] : []),
    ...(isIdempotent ? [idempotencyKey] : []),
    requestId,
  ]
}

const idempotencyKey = headerParameter(
  'Idempotency-Key',
  'A request that is sent again with the same key within 24 hours gets the first response and has no other effect.',
  { pattern: '^[!-~]{1,255}$' },
)
const requestId = headerParameter(
  'X-Request-Id',
  'An id for this request in responses and logs: 1 to 128 letters, digits, `.`, `_` and `-`. Otherwise one is generated.',
)
const workspaceId = headerParameter(
  'X-Workspace-Id',
  'The workspace in which a session acts. An API key has its own.',
  { pattern: idPattern('ws'), examples: [exampleId('ws')] },
)

function headerParameter(name: string, description: string, schema: JsonSchema = {}): Parameter {
  return { name, in: 'header', required: false, description, schema: { type: 'string', ...schema } }
}

// A request without a body has an empty object.
function requestBody(body: z.ZodType, components: Components) {
  const content = jsonContent(toJsonSchema(body, 'input', components), components)
  return { required: !body.safeParse({}).success, content }
}

function successResponse(response: SuccessResponse, declared: Declared, components: Components): Response {
  const content = successContent(declared, components)
  const isEmpty = Object.keys(content).length === 0
  return {
    description: isEmpty ? 'Done. The response has no body.' : declared.summary,
    headers: {
      ...headerReferences(declared),
      ...(response.status === 201 && !response.setsCookie ? refer('Location') : {}),
      ...(response.setsCookie ? refer('Set-Cookie') : {}),
      ...(declared.isIdempotent ? refer('Idempotent-Replayed') : {}),
    },
    ...(isEmpty ? {} : { content }),
  }
}

// By operation and media type.
const recordedResponses: Readonly<Record<string, Readonly<Record<string, unknown>>>> = recorded

function successContent({ method, path, right, response }: Declared, components: Components): Content {
  const json = response.body ? jsonContent(schemaOf(response.body, right, components), components) : {}
  const texts = (response.texts ?? []).map(type => [type, { schema: { type: 'string' } }] as const)
  const content: Content = { ...json, ...Object.fromEntries(texts) }
  const examples = recordedResponses[`${method} ${path}`] ?? {}
  for (const [type, part] of Object.entries(content)) if (type in examples) part.example = examples[type]
  return content
}

function schemaOf(body: z.ZodType, right: string, components: Components): JsonSchema {
  const brief = briefFormOf(body, right)
  const whole = toJsonSchema(body, 'output', components)
  if (!brief) return whole
  const description = `Without the right ${typeof brief.right === 'string' ? `\`${brief.right}\`` : 'to read it'}, the brief form.`
  return { description, anyOf: [whole, toJsonSchema(brief.body, 'output', components)] }
}

function problemResponses(declared: Declared, shared: Shared): Record<string, Response> {
  const codes = errorsOf(declared)
  return Object.fromEntries(
    codes.map(code => {
      const { status } = problems[code]
      const ofStatus = codes.filter(other => problems[other].status === status)
      const name = (declared.right === 'public' ? [...ofStatus, 'public'] : ofStatus).join('.')
      shared.responses[name] ??= problemResponse(ofStatus, declared, shared.schemas)
      return [status, shared.responses[name]]
    }),
  )
}

function problemResponse(codes: AppErrorCode[], declared: Declared, components: Components): Response {
  const schema = toJsonSchema(problem, 'output', components)
  const [code = 'internal'] = codes
  const { status, title, description } = problems[code]
  const example = {
    ...(exampleOf(schema, components) as object),
    type: `https://belfry.example.com/api/problems/${code}`,
    title,
    status,
    detail: description,
    code,
  }
  return {
    description: codes.map(each => `- \`${each}\`: ${problems[each].description}`).join('\n'),
    headers: { ...headerReferences(declared), ...extraHeaders(status) },
    content: { 'application/problem+json': { schema, example } },
  }
}

function extraHeaders(status: number): Record<string, unknown> {
  if (status === 401) return refer('WWW-Authenticate')
  return status === 429 || status === 503 ? refer('Retry-After') : {}
}

function headerReferences({ right }: Declared): Record<string, unknown> {
  return right === 'public'
    ? refer('X-Request-Id')
    : refer('X-Request-Id', 'X-Session-Token', 'RateLimit', 'RateLimit-Policy')
}

function refer(...names: string[]): Record<string, unknown> {
  return Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }]))
}

function jsonContent(schema: JsonSchema, components: Components): Content {
  return { 'application/json': { schema, example: exampleOf(schema, components) } }
}

const ofEveryRequest = ['bad_request', 'request_timeout', 'expectation_failed', 'headers_too_large'] as const
const ofBodies = ['malformed_json', 'validation_failed', 'payload_too_large', 'unsupported_media_type'] as const

// Returns every code that an declared can refuse with, in the order of the published list.
function errorsOf({ right, path, query, body, errors = [], isIdempotent }: Declared): AppErrorCode[] {
  const possible = new Set<AppErrorCode>([...errors, ...ofEveryRequest, 'rate_limited', 'internal', 'unavailable'])
  if (right !== 'public') possible.add('unauthenticated').add('forbidden').add('suspended')
  if (namesIn(path).some(name => name in pathIds) || isInWorkspace(right)) possible.add('not_found')
  if (query) possible.add('validation_failed')
  if (body) for (const code of ofBodies) possible.add(code)
  if (isIdempotent) {
    possible.add('validation_failed').add('idempotency_key_reused').add('idempotency_in_progress').add('loop_detected')
  }
  return appErrorCodes.filter(code => possible.has(code))
}

// Returns whether a right belongs to one workspace. A session has to name that workspace.
function isInWorkspace(right: Right): boolean {
  return right !== 'public' && right !== 'signed_in' && right !== 'operator' && rights[right].scope === 'workspace'
}
