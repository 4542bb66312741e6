import { resolve } from './example.ts'
import type { Components, JsonSchema } from './json-schema.ts'

/** A field of a request as a command line asks for it: one text, number, length of time, time or switch, or a list of them. */
export type OptionField = {
  /** Its name, after the names of the objects that it is in: `['retry', 'max_retries']`. */
  path: readonly string[]
  type: 'text' | 'integer' | 'duration' | 'time' | 'boolean'
  about: string
  isList?: boolean
  isRequired?: boolean
  /** The possible texts. */
  words?: readonly string[]
  min?: number
  max?: number
  default?: string | number | boolean
}

/**
 * Returns the fields of the schema of a body or a query. Of an object in it, these are the required members, or all
 * members if all are optional. Fields with a value of any other form are left out.
 */
export function optionFields(schema: JsonSchema, components: Components, path: readonly string[] = []): OptionField[] {
  const { properties = {}, required = [] } = resolve(schema, components)
  const needed = required as string[]
  return Object.entries(properties as Components).flatMap(([name, member]) => {
    if (path.length > 0 && needed.length > 0 && !needed.includes(name)) return []
    const own = formsOf(member, components)
    const inside = own.find(({ properties }) => properties !== undefined)
    if (inside && own.length === 1) {
      const members = optionFields(inside, components, [...path, name])
      const [only] = members
      // The object's text says more than the text of its only required member.
      return only && members.length === 1 ? [{ ...only, about: aboutOf(member, false) }] : members
    }
    const form = own.find(one => typeOf(name, one) !== null)
    if (!form) return []
    const isRequired = path.length === 0 && needed.includes(name)
    return [
      { path: [...path, name], ...describe(name, { ...form, ...member }, form), ...(isRequired && { isRequired }) },
    ]
  })
}

// The forms of a value that is not null.
function formsOf(schema: JsonSchema, components: Components): JsonSchema[] {
  const { anyOf, ...whole } = resolve(schema, components)
  if (Array.isArray(anyOf)) return anyOf.flatMap(form => formsOf(form, components))
  return whole.type === 'null' ? [] : [whole]
}

function typeOf(name: string, form: JsonSchema): OptionField['type'] | null {
  const { type, format, items } = form
  if (type === 'array') return typeOf(name, (items ?? {}) as JsonSchema)
  if (type === 'integer') return name.endsWith('_ms') ? 'duration' : 'integer'
  if (type === 'string') return format === 'date-time' ? 'time' : 'text'
  return type === 'boolean' ? 'boolean' : null
}

function describe(name: string, schema: JsonSchema, form: JsonSchema): Omit<OptionField, 'path'> {
  const isList = form.type === 'array'
  const { default: preset } = schema
  const { enum: texts, minimum, maximum } = (isList ? form.items : form) as JsonSchema
  // A switch turns on a field that is false by default. Others take a word.
  const words = form.type === 'boolean' && preset !== false ? ['true', 'false'] : texts
  return {
    type: typeOf(name, form) ?? 'text',
    about: aboutOf(schema, typeof minimum === 'number'),
    ...(isList && { isList }),
    ...(Array.isArray(words) && { words }),
    ...(typeof minimum === 'number' && { min: minimum }),
    ...(typeof maximum === 'number' && maximum < noLimit && { max: maximum }),
    ...(isPlain(preset) && { default: preset }),
  }
}

// The largest number of a column is no limit that a person meets.
const noLimit = 2 ** 31 - 1

function isPlain(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value)
}

// A command line has no null, and shows units, limits and defaults in its own way.
function aboutOf({ description = '' }: JsonSchema, isNumber: boolean): string {
  const text = String(description)
    .replace(/ (Null|Omitted|Default)\b:? [^.]*\./g, '')
    .replace(/,? in milliseconds/g, '')
    .replace(isNumber ? /,? [\d,]+ to [\d,]+( ms)?/ : '', '')
    .replaceAll('`', '')
    .replace(/\.$/, '')
  return text.replace(/^[A-Z](?=[a-z,]* )/, letter => letter.toLowerCase())
}
