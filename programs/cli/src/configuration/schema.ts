import { createCronJobBody } from '@belfry/contract/cron-job'
import { createIntegrationBody } from '@belfry/contract/integration'
import { putQueueBody } from '@belfry/contract/queue'
import { createSubscriptionBody } from '@belfry/contract/subscription'
import { z } from 'zod'

type Schema = { [member: string]: unknown }

/** Returns the JSON Schema of the configuration file, for completion and checks in editors. */
export function configurationSchema(): Schema {
  const cronJob = bodySchema(createCronJobBody)
  const cronFields = propertiesOf(cronJob)
  const integrations = (bodySchema(createIntegrationBody).oneOf as Schema[]).map(one => entrySchema(one, ['name']))
  const sections = {
    queues: namedEntries(
      entrySchema(bodySchema(putQueueBody)),
      'The limits of queues. A queue that no entry has stays.',
    ),
    cron_jobs: namedEntries(
      entrySchema(
        {
          ...cronJob,
          properties: { ...cronFields, paused: { type: 'boolean', description: 'Whether it is paused.' } },
        },
        ['name', 'method'],
      ),
      'Recurring requests.',
    ),
    subscriptions: namedEntries(entrySchema(bodySchema(createSubscriptionBody)), 'Targets that receive events.'),
    integrations: namedEntries({ oneOf: integrations }, 'Where alerts go.'),
  }
  const variables = {
    type: 'object',
    additionalProperties: { type: ['string', 'number', 'boolean'] },
    description: 'Values for variables, which texts name in braces after a dollar sign.',
  }
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'The configuration of a Belfry workspace',
    type: 'object',
    required: ['project'],
    additionalProperties: false,
    properties: {
      project: {
        type: 'string',
        pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,47}$',
        description: 'Owns the objects whose keys begin with it and a slash.',
      },
      variables,
      secrets: { type: 'array', items: { type: 'string' }, description: 'The names of secrets that must exist.' },
      connections: {
        type: 'array',
        items: { type: 'string' },
        description: 'The names of connections that must exist.',
      },
      ...sections,
      environments: {
        type: 'object',
        description: 'Changes for an environment, chosen with --env. Null removes an entry.',
        additionalProperties: {
          type: 'object',
          additionalProperties: false,
          properties: {
            variables,
            ...Object.fromEntries(Object.keys(sections).map(name => [name, { type: 'object' }])),
          },
        },
      },
    },
  }
}

function bodySchema(schema: z.ZodType): Schema {
  const {
    $schema: _,
    $defs = {},
    ...written
  } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' }) as Schema
  return inlined(written, $defs as Record<string, Schema>) as Schema
}

// The parts of a body that have a name in the API become parts of the entry.
function inlined(schema: unknown, definitions: Record<string, Schema>): unknown {
  if (Array.isArray(schema)) return schema.map(item => inlined(item, definitions))
  if (typeof schema !== 'object' || schema === null) return schema
  const { $ref, ...rest } = schema as Schema
  const { id: _, ...named } = typeof $ref === 'string' ? (definitions[$ref.replace('#/$defs/', '')] ?? {}) : {}
  return Object.fromEntries(
    Object.entries({ ...named, ...rest }).map(([name, member]) => [name, inlined(member, definitions)]),
  )
}

function propertiesOf(schema: Schema): Schema {
  return schema.properties as Schema
}

// The file has the key as the name of the entry.
function entrySchema(schema: Schema, optional: readonly string[] = []): Schema {
  const { required = [], ...rest } = schema
  const { key: _, ...properties } = propertiesOf(schema)
  const left = (required as string[]).filter(name => !optional.includes(name))
  return withVariables({ ...rest, properties, ...(left.length > 0 ? { required: left } : {}) }) as Schema
}

function namedEntries(entry: Schema, description: string): Schema {
  return { type: 'object', description, additionalProperties: entry }
}

const variable = '\\$\\{[A-Za-z_][A-Za-z0-9_]*\\}'

// A text may have a variable anywhere, and another value may be one.
function withVariables(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withVariables)
  if (typeof schema !== 'object' || schema === null) return schema
  const visited = Object.fromEntries(
    Object.entries(schema).map(([name, member]) => [name, name === 'examples' ? member : withVariables(member)]),
  )
  const { type, pattern } = visited
  if (type === 'string' && typeof pattern === 'string') return { ...visited, pattern: `(${pattern})|(${variable})` }
  const isValue = type === 'integer' || type === 'boolean' || ('enum' in visited && type === 'string')
  if (!isValue) return visited
  const { description, ...rest } = visited
  return { ...(description ? { description } : {}), anyOf: [rest, { type: 'string', pattern: `^${variable}$` }] }
}
