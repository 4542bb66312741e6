import { z } from 'zod'
import { fieldTexts } from './field-texts.ts'

/** A JSON Schema (2020-12) as OpenAPI 3.1 takes it. */
export type JsonSchema = { [member: string]: unknown }

export type Components = Record<string, JsonSchema>

/**
 * Converts a schema of a request (`input`) or a response (`output`) to JSON Schema. Schemas with an id become components and
 * references to them. Objects in responses stay open: a response may gain members.
 * @param mark - What the names of its fields begin with in `fieldTexts`.
 */
export function toJsonSchema(
  schema: z.ZodType,
  io: 'input' | 'output',
  components: Components,
  mark: '+' | '?' | '' = io === 'input' ? '+' : '',
): JsonSchema {
  // Inside another object, because then a schema with an id at the top becomes a definition as well.
  const written: JsonSchema = z.toJSONSchema(z.object({ top: schema }), {
    io,
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => adapt(zodSchema, jsonSchema, io),
  })
  const { $defs, properties } = written as { $defs?: Components; properties: { top: JsonSchema } } // as requested above
  for (const [name, definition] of Object.entries($defs ?? {})) {
    const { id: _id, ...rest } = definition
    components[name] = withOwnReferences(withTexts(rest, name, mark))
  }
  return withOwnReferences(withTexts(properties.top, '', mark))
}

// Gives each field without a description its text, and each description the default that it does not say.
function withTexts(schema: JsonSchema, place: string, mark: string): JsonSchema {
  const { anyOf = [], oneOf = [], items, additionalProperties, properties = {} } = schema
  for (const part of [anyOf, oneOf, items, additionalProperties].flat()) {
    if (typeof part === 'object' && part !== null) withTexts(part as JsonSchema, place, mark)
  }
  for (const [name, field] of Object.entries(properties as Components)) {
    const inPlace = `${place}.${name}`
    const given = fieldTexts[mark + inPlace] ?? fieldTexts[inPlace] ?? fieldTexts[mark + name] ?? fieldTexts[name]
    const text = field.description ?? given
    if (text !== undefined) field.description = /default/i.test(String(text)) ? text : text + defaultText(field)
    // The filter of a body has the parameters of a list.
    if (name === 'filter' && mark === '+') withTexts(field, '', '?')
    else withTexts(field, name, mark)
  }
  return schema
}

function adapt(zodSchema: z.core.$ZodType, jsonSchema: JsonSchema, io: 'input' | 'output'): void {
  const { def } = zodSchema._zod
  if (io === 'output' && jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
  // The range that every whole number has.
  if (io === 'output' && jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (io === 'output' && jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  // A parameter that may be repeated, or that is text in a query, has its own description.
  if (def.type === 'union' && jsonSchema.type !== undefined) delete jsonSchema.anyOf
  // zod omits the defaults and examples of transformed schemas, because it takes them for outputs.
  if (io === 'input' && zodSchema instanceof z.ZodDefault) {
    const { defaultValue } = zodSchema.def
    if (typeof defaultValue === 'string' || typeof defaultValue === 'number') jsonSchema.default = defaultValue
  }
  const examples = z.globalRegistry.get(zodSchema)?.examples
  if (io === 'input' && zodSchema instanceof z.ZodObject && examples) jsonSchema.examples = examples
}

function defaultText({ default: value }: JsonSchema): string {
  if (typeof value === 'string') return ` Default \`${value}\`.`
  return typeof value === 'number' || typeof value === 'boolean' ? ` Default ${value.toLocaleString('en-US')}.` : ''
}

function withOwnReferences(schema: JsonSchema): JsonSchema {
  return JSON.parse(JSON.stringify(schema).replaceAll('"$ref":"#/$defs/', '"$ref":"#/components/schemas/'))
}
