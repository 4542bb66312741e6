import { describeApi } from '@belfry/contract/openapi/document'
import { nameOf } from '@belfry/contract/openapi/example'
import type { Components, JsonSchema } from '@belfry/contract/openapi/json-schema'
import type { Recorded } from './record-examples.ts'

/** Returns a response of each named schema as JSON, one to a line: a response of its own, or an item of a list. */
export function recordedResponses(recorded: readonly Recorded[]): string {
  const { paths, components } = describeApi('', '')
  const named = recorded.flatMap(({ operation, response }) => {
    const described = paths[operation.path.replace(/:(\w+)/g, '{$1}')]?.[operation.method.toLowerCase()]
    const schema = described?.responses[operation.response.status]?.content?.['application/json']?.schema
    return schema ? namedPart(schema, response.body) : []
  })
  const found = new Map<string, unknown>()
  for (const { name, body } of named.sort((a, b) => Number(a.isItem) - Number(b.isItem)))
    if (!found.has(name)) found.set(name, withOneItem(body))
  // An example with the response of another schema is made from it.
  const hasOther = (name: string) =>
    [...found.keys()].some(
      other => other !== name && JSON.stringify(components.schemas[name]).includes(`/schemas/${other}"`),
    )
  const lines = [...found]
    .filter(([name]) => !hasOther(name))
    .map(([name, body]) => `  ${JSON.stringify(name)}: ${JSON.stringify(body)}`)
  return `{\n${lines.join(',\n')}\n}\n`
}

function namedPart(schema: JsonSchema, body: unknown): Array<{ name: string; body: unknown; isItem: boolean }> {
  const [whole = schema] = (schema.anyOf ?? []) as JsonSchema[]
  const name = nameOf(whole)
  if (name) return [{ name, body, isItem: false }]
  const list = (whole.properties as Components | undefined)?.data
  const ofItem = nameOf((list?.items ?? {}) as JsonSchema)
  const [item] = (body as { data?: unknown[] }).data ?? []
  return ofItem && item ? [{ name: ofItem, body: item, isItem: true }] : []
}

function withOneItem(body: unknown): unknown {
  const isObject = (item: unknown) => typeof item === 'object' && item !== null
  const shorten = (list: unknown[]) => (list.every(isObject) ? list.slice(0, 1) : [...new Set(list)])
  return JSON.parse(JSON.stringify(body, (_name, value) => (Array.isArray(value) ? shorten(value) : value)))
}
