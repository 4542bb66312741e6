import { resolve } from '@belfry/contract/openapi/example'
import { type Components, toJsonSchema } from '@belfry/contract/openapi/json-schema'
import { z } from 'zod'
import { type Kind, kindNames, kinds } from './kinds.ts'
import { fileForm } from './read-configuration.ts'

type Schema = { [member: string]: unknown }

/** Returns the JSON Schema of the configuration file, for completion and checks in editors. */
export function configurationSchema(): Schema {
  const { properties, ...form } = z.toJSONSchema(fileForm, { io: 'input' })
  const sections = kindNames.map(kind => {
    const { section, about } = kinds[kind]
    return [section, { type: 'object', description: about, additionalProperties: entrySchema(kind) }]
  })
  return { ...form, properties: { ...properties, ...Object.fromEntries(sections) } }
}

function entrySchema(kind: Kind): Schema {
  const { body, preset } = kinds[kind]
  const components: Components = {}
  const { oneOf, ...schema } = inlined(toJsonSchema(body, 'input', components), components) as Schema
  const entryOf = (one: Schema) => withVariables(asEntry(one, Object.keys(preset('')), kind === 'cron_job'))
  return Array.isArray(oneOf) ? { oneOf: oneOf.map(entryOf) } : (entryOf(schema) as Schema)
}

// The file has the key as the name of the entry.
function asEntry({ required = [], ...schema }: Schema, preset: readonly string[], mayPause: boolean): Schema {
  const { key: _, ...properties } = schema.properties as Schema
  if (mayPause) properties.paused = { type: 'boolean', description: 'Whether it is paused.' }
  const left = (required as string[]).filter(name => !preset.includes(name))
  return { ...schema, properties, ...(left.length > 0 ? { required: left } : {}) }
}

// The parts of a body that have a name in the API become parts of the entry.
function inlined(schema: unknown, components: Components): unknown {
  if (Array.isArray(schema)) return schema.map(item => inlined(item, components))
  if (typeof schema !== 'object' || schema === null) return schema
  const { $ref, ...rest } = schema as Schema
  const named = typeof $ref === 'string' ? resolve(schema as Schema, components) : {}
  return Object.fromEntries(
    Object.entries({ ...named, ...rest }).map(([name, member]) => [name, inlined(member, components)]),
  )
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
