import { expect, it } from 'vitest'
import { describeApi, writeApi } from './document.ts'
import { fieldTexts } from './field-texts.ts'
import type { Components, JsonSchema } from './json-schema.ts'

const document = describeApi('https://belfry.example.com', '1.2.3')
const { schemas } = document.components
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ address: `${method} ${path}`, operation })),
)

it('says in a sentence what every parameter and every field means', () => {
  const missing: string[] = []
  const check = (name: string, text: unknown) => {
    if (!/^[A-Z`\d].*[.)]$/s.test(String(text ?? ''))) missing.push(`${name}: ${text}`)
  }
  const walk = (schema: JsonSchema, place: string): void => {
    const { anyOf = [], oneOf = [], items, additionalProperties, properties = {} } = schema
    for (const part of [anyOf, oneOf, items, additionalProperties].flat()) {
      if (typeof part === 'object' && part !== null) walk(part as JsonSchema, place)
    }
    for (const [name, field] of Object.entries(properties as Components)) {
      const named = schemas[String(field.$ref).split('/').at(-1) ?? '']
      check(`${place}.${name}`, field.description ?? named?.description)
      walk(field, `${place}.${name}`)
    }
  }
  for (const [name, schema] of Object.entries(schemas)) walk(schema, name)
  for (const { address, operation } of operations) {
    for (const { name, description } of operation.parameters) check(`${address} ${name}`, description)
    const contents = [operation.requestBody, ...Object.values(operation.responses)].flatMap(part =>
      Object.values(part?.content ?? {}),
    )
    for (const { schema } of contents) walk(schema, address)
  }
  expect(missing).toEqual([])
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
