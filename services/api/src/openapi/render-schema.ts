import { resolve } from './example.ts'
import { escapeHtml, renderProse } from './html.ts'
import type { Components, JsonSchema } from './json-schema.ts'

/** Renders the members of an object, one row each. Members of inner objects are rows of their own, with their paths. */
export function renderMembers(schema: JsonSchema, components: Components, prefix = ''): string {
  const { properties = {}, required = [] } = withoutNull(resolve(schema, components), components)
  return Object.entries(properties as Components)
    .map(([name, member]) => {
      const isRequired = (required as string[]).includes(name)
      const inner = innerObject(member, components)
      return (
        renderRow(prefix + name, member, components, isRequired) +
        (inner ? renderMembers(inner, components, `${prefix}${name}.`) : '')
      )
    })
    .join('')
}

/** Renders one row of a table: name, type and description. */
export function renderRow(name: string, schema: JsonSchema, components: Components, isRequired: boolean): string {
  const described = { ...resolve(schema, components), ...schema }
  const mark = isRequired ? '<b title="required">*</b>' : ''
  const meaning = typeof described.description === 'string' ? renderProse(described.description) : ''
  return `<tr><th scope="row"><code>${escapeHtml(name)}</code>${mark}</th><td>${escapeHtml(typeOf(schema, components))}</td><td>${meaning}</td></tr>`
}

/** Renders a value as readable JSON. */
export function renderJson(value: unknown): string {
  return `<pre tabindex="0"><code>${escapeHtml(JSON.stringify(value, null, 2))}</code></pre>`
}

function typeOf(schema: JsonSchema, components: Components): string {
  const options = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined
  if (options) return [...new Set(options.map(option => typeOf(option, components)))].join(' or ')
  const { type, items, format, enum: words, ...rest } = resolve(schema, components)
  if (Array.isArray(words)) return words.join(' | ')
  if (type === 'array') return `list of ${typeOf((items ?? {}) as JsonSchema, components)}`
  const word = format === 'date-time' ? 'timestamp' : (type ?? 'any JSON')
  return `${word}${limitsOf(rest)}`
}

function limitsOf({ minimum, maximum, minLength, maxLength, default: value }: JsonSchema): string {
  const low = minimum ?? minLength
  const high = maximum ?? maxLength
  const unit = maxLength === undefined ? '' : ' characters'
  const isBounded = high !== undefined && Math.abs(Number(high)) < Number.MAX_SAFE_INTEGER
  const range = isBounded ? `, ${low ?? 0} to ${high}${unit}` : ''
  return value === undefined || typeof value === 'object' ? range : `${range}, default ${value}`
}

function innerObject(schema: JsonSchema, components: Components): JsonSchema | undefined {
  const bare = withoutNull(resolve(schema, components), components)
  const item =
    bare.type === 'array' ? withoutNull(resolve((bare.items ?? {}) as JsonSchema, components), components) : bare
  return item.properties ? item : undefined
}

// Returns the object of a schema that is an object or null.
function withoutNull(schema: JsonSchema, components: Components): JsonSchema {
  const options = (schema.anyOf ?? []) as JsonSchema[]
  const option = options.find(({ type }) => type !== 'null')
  return option ? resolve(option, components) : schema
}
