import type { Components, JsonSchema } from './json-schema.ts'

/** Makes an example from the examples, defaults and enums of a schema. */
export function exampleOf(schema: JsonSchema, components: Components): unknown {
  const [given] = listOf(schema.examples)
  if (given !== undefined) return given
  if (schema.default !== undefined) return schema.default
  if (schema.const !== undefined) return schema.const
  const [choice] = listOf(schema.enum)
  if (choice !== undefined) return choice
  if (nameOf(schema)) return exampleOf(resolve(schema, components), components)
  const [option] = [...listOf(schema.anyOf), ...listOf(schema.oneOf)] as JsonSchema[]
  if (option && schema.type !== 'object') return exampleOf(option, components)
  return byType(schema, components)
}

/** Returns the schema that a reference points to; any other schema itself. */
export function resolve(schema: JsonSchema, components: Components): JsonSchema {
  const name = nameOf(schema)
  return name ? (components[name] ?? {}) : schema
}

/** Returns the name of the schema that a reference points to. */
export function nameOf({ $ref }: JsonSchema): string | undefined {
  return typeof $ref === 'string' ? $ref.slice($ref.lastIndexOf('/') + 1) : undefined
}

function byType(schema: JsonSchema, components: Components): unknown {
  switch (schema.type) {
    case 'object':
      return Object.fromEntries(
        Object.entries((schema.properties ?? {}) as Components)
          .filter(([name]) => !unchosen(schema).includes(name))
          .map(([name, member]) => [name, exampleOf(member, components)]),
      )
    case 'array':
      return [exampleOf((schema.items ?? {}) as JsonSchema, components)]
    case 'string':
      return 'text'
    case 'integer':
    case 'number':
      return schema.minimum ?? 0
    case 'boolean':
      return false
    default:
      return null
  }
}

// Returns the members that an example leaves out. Of members that exclude each other, an example has the first choice. It
// also leaves out members that depend on another choice.
function unchosen({ oneOf, not, dependentRequired }: JsonSchema): unknown[] {
  const [chosen = [], ...others] = (listOf(oneOf) as JsonSchema[]).map(({ required }) => listOf(required))
  const [, ...excluded] = listOf((not as JsonSchema | undefined)?.required)
  const left = [...others.flat().filter(name => !chosen.includes(name)), ...excluded]
  const dependents = Object.entries(dependentRequired ?? {}).filter(([, needed]) =>
    listOf(needed).some(one => left.includes(one)),
  )
  return [...left, ...dependents.map(([name]) => name)]
}

function listOf(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
