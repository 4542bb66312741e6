import type { JsonSchema } from '@belfry/contract/openapi/json-schema'
import { type Operation, pathIds, pathParameters } from '@belfry/contract/operation'
import { operations } from '@belfry/contract/operations'
import { type Field, fieldsOf, optionsOf, resolve, schemasOf } from './client-methods.ts'

/** The objects of the Terraform provider: the operations that create and change one, and what it also shows of a response. */
const resources: Record<string, { made: Operation; changed?: Operation; shown?: string[] }> = {
  cron_job: { made: operations.createCronJob, changed: operations.updateCronJob },
  subscription: { made: operations.createSubscription, changed: operations.updateSubscription },
  queue: { made: operations.putQueue },
  integration: {
    made: operations.createIntegration,
    changed: operations.updateIntegration,
    shown: ['target', 'confirmed'],
  },
  secret: { made: operations.putSecret, shown: ['updated_at'] },
}

/** The objects that the provider only reads. */
const dataSources: Record<string, Operation> = {
  workspace_data: operations.getWorkspace,
  secret_data: operations.putSecret,
}

/** What the provider knows about a field of a body or a response: `field` in its declared.go has all members. */
type Attribute = { type: string; text: string; [member: string]: unknown }

/** Returns the table of these objects, from which the provider makes its attributes. */
export function terraformObjects(): string {
  const objects = Object.entries(resources).map(([kind, { made, changed, shown = [] }]) => {
    const fields = fieldsOf(schemasOf(made).input)
    const changes = changed && fieldsOf(schemasOf(changed).input)
    const fixed = fields.filter(({ name }) => changes?.every(change => change.name !== name))
    return [kind, { ...nameIn(made), ...attributesOf(fields, fixed), ...shownBy(made, shown) }]
  })
  const data = Object.entries(dataSources).map(([kind, read]) => [kind, shownBy(read)])
  return `${JSON.stringify(Object.fromEntries([...objects, ...data]), null, 2)}\n`
}

// The path of an object that a caller names ends in the name.
function nameIn(made: Operation): Record<string, Attribute> {
  const last = pathParameters(made.path).find(name => !(name in pathIds))
  const parameter = schemasOf(made).described?.parameters.find(({ name }) => name === last)
  if (!parameter) return {}
  const { description = '', schema } = parameter
  return { name: { text: description, required: true, fixed: true, type: 'text', pattern: schema.pattern } }
}

function shownBy({ method, path, response }: Operation, names?: string[]): Record<string, Attribute> {
  const fields = fieldsOf(schemasOf({ method, path, response }).output ?? {})
  const shown = fields.filter(({ name }) => names?.includes(name) ?? true)
  const attributes = Object.entries(attributesOf(shown))
  return Object.fromEntries(
    attributes.map(([name, { required: _, ...attribute }]) => [name, { ...attribute, computed: true }]),
  )
}

// Terraform reserves this name.
const reserved = 'connection'

function attributesOf(fields: Field[], fixed: Field[] = []): Record<string, Attribute> {
  const free = fields.filter(({ name }) => name !== reserved)
  return Object.fromEntries(
    free.map(field => {
      const { name, schema, isRequired, text } = field
      const kind = first(schema)
      const { default: value = null } = schema
      return [
        name,
        {
          text: isUnion(schema) ? String(kind.description) : text,
          ...(isRequired ? { required: true } : {}),
          ...(fixed.includes(field) ? { fixed: true } : {}),
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

// `min` and `max` limit a number, each number of a list, or the length of a text.
function kindOf(schema: JsonSchema): { type: string; [member: string]: unknown } {
  const { type, format, enum: choices, minimum: min, maximum: max, minLength, maxLength, minItems, maxItems } = schema
  if (type === 'string' && format === 'date-time') return { type: 'time' }
  if (type === 'string') return { type: 'text', choices, min: minLength, max: maxLength }
  if (type === 'integer') return { type: 'number', min, max }
  if (type === 'boolean') return { type: 'flag' }
  if (type === 'object' && schema.properties) return { type: 'object', fields: attributesOf(fieldsOf(schema)) }
  if (type === 'object') return { type: 'headers' }
  const items = first((schema.items ?? {}) as JsonSchema)
  if (items.type === 'string') return { type: 'texts', choices: items.enum, minItems, maxItems }
  if (items.type === 'integer') return { type: 'numbers', min: items.minimum, max: items.maximum, maxItems }
  // A payload is any value, and a list of objects may be empty.
  return { type: 'json', ...(type === 'array' ? { default: '[]' } : {}) }
}
