import type { JsonSchema } from '@belfry/contract/openapi/json-schema'
import { clientMethods, fieldsOf, optionsOf, resolve } from './client-methods.ts'

/** The objects of the Terraform provider whose attributes are the fields of a body, by the method that creates them. */
const created = { cron_job: 'cronJobs.create', subscription: 'subscriptions.create', queue: 'queues.put' }

/** What the provider knows about a field of a body. */
type Attribute = {
  type: 'text' | 'time' | 'json' | 'number' | 'flag' | 'texts' | 'numbers' | 'headers' | 'object'
  text: string
  required?: true
  default?: unknown
  choices?: unknown
  /** The limits of a number, or of each number of a list; of a text, its length. */
  min?: unknown
  max?: unknown
  maxItems?: unknown
  fields?: Record<string, Attribute>
}

/** Returns the table of these objects, from which the provider makes its attributes. */
export function terraformObjects(): string {
  const methods = clientMethods()
  const objects = Object.entries(created).map(([kind, client]) => {
    const method = methods.find(({ resource, name }) => `${resource}.${name}` === client)
    return [kind, attributesOf(method?.input ?? {})]
  })
  return `${JSON.stringify(Object.fromEntries(objects), null, 2)}\n`
}

// Terraform reserves this name.
const reserved = 'connection'

function attributesOf(schema: JsonSchema): Record<string, Attribute> {
  const fields = fieldsOf(schema).filter(({ name }) => name !== reserved)
  return Object.fromEntries(
    fields.map(({ name, schema, isRequired, text }) => {
      const kind = first(schema)
      const { default: value = null } = schema
      return [
        name,
        {
          text: isUnion(schema) ? String(kind.description) : text,
          ...(isRequired ? { required: true } : {}),
          ...(value === null ? {} : { default: value }),
          ...kindOf(kind),
        },
      ]
    }),
  )
}

function isUnion(schema: JsonSchema): boolean {
  const options = optionsOf(resolve(schema))
  return options.length > 1 || options.some(isUnion)
}

// Of a union, a configuration writes the first kind.
function first(schema: JsonSchema): JsonSchema {
  const whole = resolve(schema)
  const [option] = whole.type === undefined ? optionsOf(whole) : []
  return option ? first(option) : whole
}

function kindOf(schema: JsonSchema): Partial<Attribute> & Pick<Attribute, 'type'> {
  const { type, format, enum: choices, minimum: min, maximum: max, minLength, maxLength, maxItems } = schema
  if (type === 'string' && format === 'date-time') return { type: 'time' }
  if (type === 'string') return { type: 'text', choices, min: minLength, max: maxLength }
  if (type === 'integer') return { type: 'number', min, max }
  if (type === 'boolean') return { type: 'flag' }
  if (type === 'object' && schema.properties) return { type: 'object', fields: attributesOf(schema) }
  if (type === 'object') return { type: 'headers' }
  const items = first((schema.items ?? {}) as JsonSchema)
  if (items.type === 'string') return { type: 'texts', maxItems }
  if (items.type === 'integer') return { type: 'numbers', min: items.minimum, max: items.maximum, maxItems }
  // A payload is any value, and a list of objects may be empty.
  return { type: 'json', ...(type === 'array' ? { default: '[]' } : {}) }
}
