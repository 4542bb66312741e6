import { describeApi } from '@belfry/contract/openapi/document'
import { toJsonSchema } from '@belfry/contract/openapi/json-schema'
import { optionFields } from '@belfry/contract/openapi/option-fields'
import type { Operation } from '@belfry/contract/operation'
import { operations } from '@belfry/contract/operations'

/** Returns the fields of the bodies and queries for which the command line has options, by the names of the operations. */
export function commandLineFields(): string {
  const { components } = describeApi('', '')
  const lists = Object.entries<Operation>(operations).flatMap(([name, { client, query, body }]) => {
    const given = body ?? query
    if (!client || !given) return []
    const fields = optionFields(toJsonSchema(given, 'input', {}, body ? '+' : '?'), components.schemas)
    return [
      `export const ${name}: readonly OptionField[] = [\n${fields.map(field => `  ${JSON.stringify(field)},\n`).join('')}]`,
    ]
  })
  const type = `import type { OptionField } from '@belfry/contract/openapi/option-fields'`
  return ['// Generated from the operations of the API.', type, ...lists, ''].join('\n')
}
