import type { Operation } from '@belfry/contract/openapi/describe-operation'
import { describeApi, sectionsOf } from '@belfry/contract/openapi/document'
import { exampleOf } from '@belfry/contract/openapi/example'
import type { Operation as Declared } from '@belfry/contract/operation'
import { operations } from '@belfry/contract/operations'
import { version } from '@belfry/domain/version'
import type { z } from 'zod'

const head = `# API examples

The shortest request of each operation, and each kind of response once. A test sends a request of each operation to a real API,
and records its responses. Ids, times and secrets are placeholders, members that are null are left out,
and a list has one item. [The reference](api.md) lists parameters, callers and errors. Requests with \`$SESSION_TOKEN\` need the
session of a user.

`

/** Returns the page with a request of every operation, and each kind of response once. */
export function examplesPage(): string {
  const declared = new Map(Object.values<Declared>(operations).map(one => [`${one.method} ${one.path}`, one]))
  const shown = new Map<string, string>()
  const sections = sectionsOf(describeApi('https://belfry.example.com', version)).map(({ title, operations }) => {
    const parts = operations.flatMap(({ method, path, operation }) => {
      const own = declared.get(`${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`)
      return own ? [example(own, path, operation, shown)] : []
    })
    return `## ${title}\n\n${parts.join('\n')}`
  })
  return `${head}${sections.join('\n')}`
}

function example(declared: Declared, path: string, operation: Operation, shown: Map<string, string>): string {
  const request = block('sh', curl(declared, path, operation))
  return `### ${operation.summary}\n\n${request}\n${response(declared.response.status, operation, shown)}`
}

function curl({ method, body }: Declared, path: string, operation: Operation): string {
  const values = new Map(operation.parameters.map(({ name, schema }) => [name, exampleOf(schema, {})]))
  const filled = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(values.get(name))))
  const asked = operation.parameters.filter(one => one.in === 'query' && one.required)
  const query = new URLSearchParams(asked.map(({ name }) => [name, String(values.get(name))])).toString()
  const verb = method === 'GET' ? [] : [`-X ${method}`]
  const whole = operation.requestBody?.content['application/json']?.example
  const sent = body && whole ? JSON.stringify(shortest(body, whole)).replaceAll("'", `'\\''`) : null
  const data = sent === null ? [] : [`-H 'Content-Type: application/json' -d '${sent}'`]
  const url = `"$BELFRY_URL${filled}${query && `?${query}`}"`
  return [['curl', ...verb, url].join(' '), ...credential(operation), ...data].join(' \\\n  ')
}

// Returns the members of an example that the body cannot do without, or the first one. The document has times from now.
function shortest(body: z.ZodType, whole: unknown): object {
  const text = JSON.stringify(whole).replace(/(?<=")now\+(\d+)(?=")/g, (_, ms) =>
    new Date(later + Number(ms)).toISOString(),
  )
  return Object.keys(JSON.parse(text))
    .reverse()
    .reduce((kept, name) => {
      const { [name]: _, ...rest } = kept
      return Object.keys(rest).length > 0 && body.safeParse(rest).success ? rest : kept
    }, JSON.parse(text))
}

const later = Date.parse('2099-06-01T07:00:00Z')

function credential({ security }: Operation): string[] {
  if (security.length === 0) return []
  const isForKeys = security.some(scheme => 'apiKey' in scheme)
  return [isForKeys ? '-H "X-Api-Key: $BELFRY_API_KEY"' : '-H "Authorization: Bearer $SESSION_TOKEN"']
}

function response(status: number, { summary, responses }: Operation, shown: Map<string, string>): string {
  const [[type, content] = ['', null]] = Object.entries(responses[status]?.content ?? {})
  if (content?.example === undefined) return `Response \`${status}\`${type ? ` with \`${type}\`` : ''}.\n`
  const { schema, example } = content
  const isText = typeof example === 'string'
  const text = isText ? example.trimEnd() : JSON.stringify(example, (_name, value) => value ?? undefined, 1)
  const kind = isText ? text : JSON.stringify(schema)
  const known = shown.get(kind)
  if (known !== undefined && text.length > 120)
    return `Response \`${status}\`: as for [${known}](#${anchorOf(known)}).\n`
  shown.set(kind, summary)
  return `Response \`${status}\`:\n\n${block(isText ? 'text' : 'json', text)}`
}

function anchorOf(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\w\- ]/g, '')
    .replaceAll(' ', '-')
}

function block(language: string, text: string): string {
  return `\`\`\`${language}\n${text}\n\`\`\`\n`
}
