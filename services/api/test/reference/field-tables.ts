import { describeApi } from '@belfry/contract/openapi/document'
import { resolve } from '@belfry/contract/openapi/example'
import type { Components, JsonSchema } from '@belfry/contract/openapi/json-schema'
import { version } from '@belfry/domain/version'
import { member, table } from './page.ts'

const {
  paths,
  components: { schemas },
} = describeApi('https://belfry.example.com', version)

/**
 * Returns a page with what the OpenAPI document says of fields, in the table after each comment `<!-- fields: PLACE NAMES -->`.
 * The place is the body of an operation, such as `POST /scheduler/tasks`, or a named schema or a member of it, such as
 * `Run.timings`. Without names the table has all fields.
 */
export function withFieldTables(page: string): string {
  return page.replace(
    /^<!-- fields: ([A-Z]+ \/\S+|\S+)(.*) -->\n(?:\|.*\n)*/gm,
    (found, place: string, names: string) => {
      const [mark = ''] = found.split('\n')
      return `${mark}\n${fieldTable(place, names.split(' ').slice(1))}`
    },
  )
}

function fieldTable(place: string, names: string[]): string {
  const forms = formsOf(schemaOf(place))
  const formsWith = (name: string) => forms.filter(form => name in fieldsOf(form))
  const all = [...new Set(forms.flatMap(form => Object.keys(fieldsOf(form))))]
  const wanted = names.length > 0 ? names : all.sort((a, b) => formsWith(b).length - formsWith(a).length)
  const rows = wanted.map(name => {
    const own = formsWith(name)
    const [form] = own
    if (!form) throw new Error(`${place} has no field ${name}.`)
    const { [name]: field = {} } = fieldsOf(form)
    const kinds = own.length < forms.length ? own.map(kindOf).join(', ') : 'all'
    const text = String(field.description ?? resolve(field, schemas).description)
    return [member(name, isMarked(form, name)), ...(forms.length > 1 ? [kinds] : []), text]
  })
  if (rows.length === 0) throw new Error(`${place} has no fields.`)
  return table([forms.length > 1 ? ['Field', 'Kind', 'Meaning'] : ['Field', 'Meaning'], ...rows])
}

function schemaOf(place: string): JsonSchema {
  const [method = '', path = ''] = place.split(' ')
  const operation = paths[path.startsWith('/api/') ? path : `/api/v1${path}`]?.[method.toLowerCase()]
  const [name = '', ...members] = place.split('.')
  const schema = operation?.requestBody?.content['application/json']?.schema ?? schemas[name] ?? {}
  return members.reduce((whole, one) => fieldsOf(whole)[one] ?? {}, schema)
}

// The objects that a value may be.
function formsOf(schema: JsonSchema): JsonSchema[] {
  const { anyOf, oneOf, ...whole } = resolve(schema, schemas)
  return whole.properties ? [whole] : ((anyOf ?? oneOf ?? []) as JsonSchema[]).flatMap(formsOf)
}

function fieldsOf({ properties = {} }: JsonSchema): Components {
  return properties as Components
}

// A response has all of its members, so none is marked.
function isMarked(form: JsonSchema, name: string): boolean {
  const required = (form.required ?? []) as string[]
  return required.includes(name) && required.length < Object.keys(fieldsOf(form)).length
}

// Kinds differ in the constant of one field.
function kindOf(form: JsonSchema): string {
  const [kind] = Object.values(fieldsOf(form)).flatMap(field => field.const ?? [])
  return `\`${kind}\``
}
