import { briefFormOf } from '@belfry/contract/brief-forms'
import { describeApi } from '@belfry/contract/openapi/document'
import { resolve as resolveIn } from '@belfry/contract/openapi/example'
import type { JsonSchema } from '@belfry/contract/openapi/json-schema'
import { type Operation, pathParameters } from '@belfry/contract/operation'
import { operations } from '@belfry/contract/operations'
import { problems } from '@belfry/contract/problem'

const { paths, components } = describeApi('', '')

export const resources: Record<string, string> = {
  tasks: 'Requests at a future time.',
  cronJobs: 'Recurring requests.',
  events: 'Immediate requests.',
  subscriptions: 'Targets that receive every event with a matching topic.',
  deadLetters: 'Tasks that failed for good, until they are replayed or discarded.',
  bulkOperations: 'Cancels, stops, replays and discards of many tasks, in the background.',
  queues: 'Queues, which limit how many attempts of their tasks start.',
  runs: 'The activity log: one run per attempt.',
  hosts: 'The hosts that tasks call, with their circuit breakers.',
  workspaces: 'Workspaces, with their members, secrets and connections. `current` is the workspace of the API key.',
  organizations: 'Organizations. An API key reads the one of its workspace; everything else requires a session token.',
  status: 'Whether dispatchers, schedulers and the queue are running.',
}

export type Field = { name: string; schema: JsonSchema; isRequired: boolean; text: string }

export function clientMethods() {
  return Object.values<Operation>(operations).flatMap(({ client, ...declared }) => {
    if (client === undefined) return []
    const [resource = '', ...name] = client.split('.')
    const { method, path, right, isIdempotent = false, summary, description, response } = declared
    const { input, output: schema, described } = schemasOf(declared)
    const result = schema && briefFormOf(response.body, right) ? (optionsOf(schema)[0] ?? schema) : schema
    return {
      ...{ resource, name: name.join('.'), method, path, isIdempotent, result },
      parameters: pathParameters(path),
      text: [`${summary}.`, ...(description ? [description] : [])].join(' '),
      kind: kindOf(response.texts ?? [], result),
      query: (described?.parameters ?? []).flatMap(({ name, schema, required, description = '', ...parameter }) =>
        parameter.in === 'query' ? [{ name, schema, isRequired: required, text: description }] : [],
      ),
      body: fieldsOf(input),
      input,
      // `conflict` names no rule; its `detail` does.
      conflicts: (declared.errors ?? []).filter(code => problems[code].status === 409 && code !== 'conflict'),
    }
  })
}

/** A method of its resource, such as `createMany` of `tasks`. The name may have a group: `secrets.put`. */
export type ClientMethod = ReturnType<typeof clientMethods>[number]

/** Returns the schema of the body of an operation, the schema of its response, and its place in the OpenAPI document. */
export function schemasOf({ method, path, response }: Pick<Operation, 'method' | 'path' | 'response'>) {
  const described = paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()]
  const input = described?.requestBody?.content['application/json']?.schema ?? {}
  const output = described?.responses[response.status]?.content?.['application/json']?.schema ?? null
  return { input, output, described }
}

function kindOf(texts: readonly string[], result: JsonSchema | null): 'call' | 'list' | 'export' | 'stream' {
  if (texts.includes('text/event-stream')) return 'stream'
  if (texts.length > 0) return 'export'
  return result !== null && 'next_cursor' in propertiesOf(result) ? 'list' : 'call'
}

/** Returns the fields of an object, or the fields of all objects that it may be. */
export function fieldsOf(given: JsonSchema): Field[] {
  const options = optionsOf(resolve(given))
  if (options.length > 0 && !resolve(given).properties) return merge(options.map(fieldsOf))
  const schema = resolve(given)
  const required = (schema.required ?? []) as string[]
  return Object.entries(propertiesOf(schema)).map(([name, member]) => {
    const text = String(member.description ?? resolve(member).description ?? '')
    return { name, schema: member, isRequired: required.includes(name), text }
  })
}

function merge(lists: Field[][]): Field[] {
  const merged = new Map<string, Field>()
  for (const field of lists.flat()) {
    const isRequired = lists.every(fields => fields.some(({ name, isRequired }) => name === field.name && isRequired))
    const before = merged.get(field.name)
    merged.set(field.name, {
      ...field,
      schema: before ? either(before.schema, field.schema) : field.schema,
      isRequired,
    })
  }
  return [...merged.values()]
}

// Of a field that tells the objects apart, each object has another value.
function either(before: JsonSchema, { const: value }: JsonSchema): JsonSchema {
  if (value === undefined) return before
  const { enum: values = [before.const], description } = before
  return { type: 'string', description, enum: [...(values as unknown[]), value] }
}

export function resolve(schema: JsonSchema): JsonSchema {
  return resolveIn(schema, components.schemas)
}

/** Returns the schemas of a union, without null. */
export function optionsOf({ anyOf, oneOf }: JsonSchema): JsonSchema[] {
  return ((anyOf ?? oneOf ?? []) as JsonSchema[]).filter(({ type }) => type !== 'null')
}

/** Returns whether a schema also accepts null. */
export function isNullable({ anyOf, type }: JsonSchema): boolean {
  return (anyOf as JsonSchema[] | undefined)?.some(({ type }) => type === 'null') || [type].flat().includes('null')
}

export function propertiesOf(schema: JsonSchema): Record<string, JsonSchema> {
  return (resolve(schema).properties ?? {}) as Record<string, JsonSchema>
}
