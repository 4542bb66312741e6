import { camel, toCamel } from '@belfry/client/case'
import { briefFormOf } from '@belfry/contract/brief-forms'
import { nameOf, resolve } from '@belfry/contract/openapi/example'
import { type Components, toJsonSchema } from '@belfry/contract/openapi/json-schema'
import type { JSONObject } from '@modelcontextprotocol/server'
import { z } from 'zod'

/** The JSON Schema of the object that a tool returns. */
export type OutputSchema = JSONObject & { type: 'object' }

/** Returns the schema of the response of an operation. A caller who may not read it gets a part of it. */
export function outputOf({ right, response: { body } }: { right: string; response: { body: z.ZodType } }) {
  const brief = briefFormOf(body, right)
  return { ...schemaOf(body), ...(brief ? { required: schemaOf(brief.body).required ?? [] } : {}) } as OutputSchema
}

/** Returns the schema of a list, wrapped in an object as `data`. */
export function outputOfList(item: z.ZodType): OutputSchema {
  return schemaOf(z.object({ data: z.array(item) }))
}

/** Converts a schema with the names of the HTTP API to a JSON Schema with the names of the client. */
export function schemaOf(body: z.ZodType): OutputSchema {
  const components: Components = {}
  const root = toJsonSchema(body, 'output', components)
  const { [nameOf(root) ?? '']: _, ...$defs } = components
  const schema = toCamel({ ...resolve(root, components), ...(Object.keys($defs).length > 0 ? { $defs } : {}) })
  const text = JSON.stringify(schema, (key, value: unknown) => {
    if (key === 'examples') return undefined
    return key === 'required' && Array.isArray(value) ? value.map(camel) : value
  })
  return JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/'))
}

/** Returns a function that leaves out the members of a response that a schema does not declare. */
export function membersOf(item: z.ZodType): (whole: object) => object {
  const names = Object.keys(Object(schemaOf(item).properties))
  return whole => Object.fromEntries(names.map(name => [name, Reflect.get(whole, name)]))
}
