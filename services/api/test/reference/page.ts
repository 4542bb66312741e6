import { problems } from '@belfry/contract'
import { version } from '@belfry/domain'
import { describeApi, type OpenApiDocument } from '../../src/openapi/document.ts'
import { resolve } from '../../src/openapi/example.ts'
import type { Components, JsonSchema } from '../../src/openapi/json-schema.ts'
import type { Operation } from '../../src/openapi/operation.ts'
import { routes } from '../../src/routes.ts'

const head = `# The HTTP interface

Made by \`npm run docs:api\` from the OpenAPI document; a test fails when this page is out of date. Every Belfry has the same
with all fields, limits and examples at \`/api/docs\`, and for programs (OpenAPI 3.1) at \`/api/openapi.json\`.

`

const conventions = `
- **Who**: _key_ is an API key of a workspace, in \`X-Api-Key\`; _session_ is \`Authorization: Bearer\` with a user's token, and
  with \`X-Workspace-Id\` where the path names no workspace. What a session may do depends on its [role](permissions.md).
- **Sent**: the members of the body, and after a \`?\` those of the query; **bold** ones are required.
- Operations with a \`↻\` take an [\`Idempotency-Key\`](idempotency.md).
- Creation answers \`201\` with \`Location\`, lists answer \`{ "data": [...], "next_cursor": ... }\`.

`

/** The page about every operation and every refusal. */
export function referencePage(): string {
  const document = describeApi(routes, 'https://belfry.example.com', version)
  return `${head}${document.info.description}\n${conventions}${sections(document)}\n${refusals()}`
}

function sections({ paths, components }: OpenApiDocument): string {
  const rows = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      tag: operation.tags[0] ?? '',
      cells: [
        `\`${method.toUpperCase()} ${path}\`${isIdempotent(operation) ? ' ↻' : ''}`,
        operation.summary,
        whoMayCall(operation),
        membersOf(operation, components.schemas),
      ],
    })),
  )
  return [...new Set(rows.map(({ tag }) => tag))]
    .map(tag => {
      const own = rows.filter(row => row.tag === tag).map(({ cells }) => cells)
      return `## ${titleOf(tag)}\n\n${table([['Operation', 'What it does', 'Who', 'Sent'], ...own])}`
    })
    .join('\n')
}

function refusals(): string {
  const rows = Object.entries(problems).map(([code, { status, description }]) => [
    `<a id="${code}"></a>\`${code}\``,
    String(status),
    description,
  ])
  return `## Refusals

Every refusal is a problem body ([RFC 9457](https://www.rfc-editor.org/rfc/rfc9457)), \`application/problem+json\`. Its \`code\` is
stable, \`detail\` says what to do, \`errors\` names every field that is wrong, \`request_id\` is in the logs. Each code has a
page at \`/api/problems/{code}\`.

${table([['Code', 'Status', 'Meaning'], ...rows])}`
}

function isIdempotent({ parameters }: Operation): boolean {
  return parameters.some(({ name }) => name === 'Idempotency-Key')
}

function whoMayCall({ security }: Operation): string {
  if (security.length === 0) return 'anybody'
  return security.some(scheme => 'apiKey' in scheme) ? 'key, session' : 'session'
}

function membersOf({ parameters, requestBody }: Operation, components: Components): string {
  const body = requestBody?.content['application/json']?.schema
  const query = parameters.filter(parameter => parameter.in === 'query')
  const asked = query.map(({ name, required }) => member(name, required)).join(', ')
  return [body ? bodyMembers(resolve(body, components), components) : '', asked === '' ? '' : `? ${asked}`]
    .filter(text => text !== '')
    .join(' ')
}

function bodyMembers(schema: JsonSchema, components: Components): string {
  const choices = (schema.anyOf ?? schema.oneOf) as JsonSchema[] | undefined
  if (choices) return choices.map(choice => bodyMembers(resolve(choice, components), components)).join(' or ')
  const required = (schema.required ?? []) as string[]
  return Object.keys((schema.properties ?? {}) as Components)
    .map(name => member(name, required.includes(name)))
    .join(', ')
}

function member(name: string, isRequired: boolean): string {
  return isRequired ? `**\`${name}\`**` : `\`${name}\``
}

function titleOf(tag: string): string {
  const words = tag === 'cronjobs' ? 'cron jobs' : tag.replace(/-/g, ' ')
  return `${words[0]?.toUpperCase() ?? ''}${words.slice(1)}`
}

function table(rows: string[][]): string {
  const [first = [], ...rest] = rows
  const lines = [first, first.map(() => '---'), ...rest]
  return `${lines.map(cells => `| ${cells.map(cell => cell.replaceAll('|', '\\|')).join(' | ')} |`).join('\n')}\n`
}
