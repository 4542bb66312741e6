import { expect, it } from 'vitest'
import { describeApi, writeApi } from './document.ts'
import { resolve } from './example.ts'
import { fieldTexts } from './field-texts.ts'
import type { Components, JsonSchema } from './json-schema.ts'

const document = describeApi('https://belfry.example.com', '1.2.3')
const { schemas } = document.components
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ address: `${method} ${path}`, operation })),
)

/** Every field and every parameter. */
const fields = [
  ...Object.entries(schemas).flatMap(([name, schema]) => fieldsOf(schema, name)),
  ...operations.flatMap(({ address, operation: { parameters, requestBody, responses } }) => [
    ...parameters.map(({ name, description, schema }) => ({ name: `${address} ${name}`, text: description, schema })),
    ...[requestBody, ...Object.values(responses)].flatMap(part =>
      Object.values(part?.content ?? {}).flatMap(({ schema }) => fieldsOf(schema, address)),
    ),
  ]),
]

function fieldsOf(schema: JsonSchema, place: string): Array<{ name: string; text: unknown; schema: JsonSchema }> {
  const { anyOf = [], oneOf = [], items, additionalProperties, properties = {} } = schema
  const parts = [anyOf, oneOf, items, additionalProperties].flat() as unknown[]
  return [
    ...parts.flatMap(part => (typeof part === 'object' && part !== null ? fieldsOf(part as JsonSchema, place) : [])),
    ...Object.entries(properties as Components).flatMap(([member, field]) => {
      const name = `${place}.${member}`
      const text = field.description ?? resolve(field, schemas).description
      return [{ name, text, schema: field }, ...fieldsOf(field, name)]
    }),
  ]
}

it('says in a sentence what every parameter and every field means', () => {
  const missing = fields.filter(({ text }) => !/^[A-Z`\d].*[.)]$/s.test(String(text ?? '')))
  expect(missing.map(({ name, text }) => `${name}: ${text}`)).toEqual([])
})

it('says of null and of the limits of a number what the schema says', () => {
  const formsOf = (schema: JsonSchema): JsonSchema[] => {
    const { anyOf = [], oneOf = [], ...own } = resolve(schema, schemas)
    return [own, ...([anyOf, oneOf].flat() as JsonSchema[]).flatMap(formsOf)]
  }
  const wrong = fields.filter(({ text, schema }) => {
    const forms = formsOf(schema)
    const isNullable = forms.some(({ type }) => [type].flat().includes('null') || type === undefined)
    const [range] = /\d[\d,]* to \d[\d,]*/.exec(String(text)) ?? []
    const ranges = forms.flatMap(({ type, minimum, maximum }) => (type === 'integer' ? `${minimum} to ${maximum}` : []))
    const isInRange = !range || ranges.length === 0 || ranges.includes(range.replaceAll(',', ''))
    return !isInRange || (/\bnull\b/i.test(String(text)) && !isNullable)
  })
  expect(wrong.map(({ name, text }) => `${name}: ${text}`)).toEqual([])
})

it('refers to shared parameters and responses, which keeps it below 700 KB', () => {
  const written = writeApi(document)
  const { paths, components } = JSON.parse(written)
  const resolved = JSON.parse(JSON.stringify(paths), (_name, part) => {
    const [, kind, name] = /^#\/components\/(parameters|responses)\/(.+)$/.exec(part?.$ref) ?? []
    return kind && name ? components[kind][name] : part
  })
  expect(resolved).toEqual(JSON.parse(JSON.stringify(document.paths)))
  expect(Buffer.byteLength(written)).toBeLessThan(700_000)
})

it('has no text of a field that is gone', () => {
  const json = JSON.stringify(document)
  const unused = Object.entries(fieldTexts).filter(([, text]) => !json.includes(JSON.stringify(text).slice(0, -1)))
  expect(unused.map(([name]) => name)).toEqual([])
})

it('gives each field and parameter one form, or several without a type beside them', () => {
  const both = fields.filter(({ schema }) => schema.type !== undefined && (schema.anyOf ?? schema.oneOf) !== undefined)
  expect(both.map(({ name }) => name)).toEqual([])
})
