import { z } from 'zod'

/** A JSON Schema (2020-12) as OpenAPI 3.1 takes it. */
export type JsonSchema = { [member: string]: unknown }

/** The schemas that have a name, by it. */
export type Components = Record<string, JsonSchema>

/**
 * Writes a schema down for callers: what they send (`input`) or what they get (`output`). Schemas that carry an id become
 * components and are referred to. Objects in answers stay open: an answer may gain members.
 */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output', components: Components): JsonSchema {
  // Inside of another object, so that a schema with an id becomes a definition also at the top.
  const written: JsonSchema = z.toJSONSchema(z.object({ top: schema }), {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => adapt(zodSchema, jsonSchema, io),
  })
  const { $defs, properties } = written as { $defs?: Components; properties: { top: JsonSchema } } // what was asked for
  for (const [name, definition] of Object.entries($defs ?? {})) {
    const { id: _id, ...rest } = definition
    components[name] = withOwnReferences(rest)
  }
  return withOwnReferences(properties.top)
}

function adapt(zodSchema: z.core.$ZodType, jsonSchema: JsonSchema, io: 'input' | 'output'): void {
  const { def } = zodSchema._zod
  if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
  // A parameter that may be repeated says itself what it is.
  if (def.type === 'union' && jsonSchema.type === 'array') delete jsonSchema.anyOf
  if (io === 'input' && zodSchema instanceof z.ZodDefault) restoreDefault(zodSchema.def.defaultValue, jsonSchema)
  const examples = z.globalRegistry.get(zodSchema)?.examples
  if (io === 'input' && zodSchema instanceof z.ZodObject && examples) jsonSchema.examples = examples
}

// The library leaves out defaults and examples where a part is transformed, because it takes them for results.
function restoreDefault(value: unknown, jsonSchema: JsonSchema): void {
  if (typeof value === 'string' || typeof value === 'number') jsonSchema.default = value
}

function withOwnReferences(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/$defs/', '"$ref":"#/components/schemas/'))
}
