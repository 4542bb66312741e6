const head = `# Client reference

Every method and type of [the client](client.md), generated from its declarations. Every method without other options
takes [\`options?: RequestOptions\`](#options). A \`List\` is for \`for await\`, or is awaited for one page. A code after
"Throws" is that of a \`ConflictError\`.

`

const resources = [
  'tasks',
  'cronJobs',
  'events',
  'subscriptions',
  'subscriptions.signingSecrets',
  'deadLetters',
  'bulkOperations',
  'runs',
  'hosts',
  'queues',
  'status',
  'workspaces',
  'workspaces.federatedCredentials',
  'workspaces.secrets',
  'workspaces.connections',
  'workspaces.signingKeys',
  'workspaces.signingSecrets',
  'organizations',
  'organizations.auditStream',
]

const titles: Record<string, string> = {
  options: 'Options',
  'generated/inputs': 'Bodies and queries',
  'types/request': 'Requests',
  'types/task': 'Tasks',
  'types/bulk': 'Dead letters and bulk operations',
  'types/callback': 'Callbacks',
  'types/queue': 'Queues',
  'types/workspace': 'Workspaces',
  'types/federated-credential': 'Federated credentials',
  'exchange-token': 'Token exchange',
  errors: 'Errors',
  webhooks: 'Webhooks',
}

/** A member of a declared object, or a declaration: its comment, its name and its type. */
type Member = { comment: string; name: string; type: string }

/**
 * Returns the page about every method and type of the client.
 * @param read - Reads the declarations of a module, such as `list`.
 */
export function clientReference(read: (module: string) => string): string {
  const declared = read('generated/resources')
  const methods = resources.map(name => section(name, methodsOf(name, declared)))
  const webhooks = functionsOf(read('webhooks')).map(member => method('webhooks.', member))
  const exchange = functionsOf(read('exchange-token')).map(member => method('', member))
  const types = Object.entries(titles).map(
    ([module, title]) => `### ${title}\n\n\`\`\`typescript\n${shortTypes(read(module))}\n\`\`\`\n`,
  )
  const declarations = membersOf(read('generated/responses').replace(/^import .*$/gm, ''))
  const isUnion = ({ type }: Member) => type.includes('} | {')
  const unions = declarations.filter(isUnion).map(({ type }) => `export${type};`)
  const responses = declarations.filter(declaration => !isUnion(declaration))
  return [
    head + methods.join('\n'),
    section('exchangeToken', exchange),
    section('webhooks', webhooks),
    `## Types\n\n${types.join('\n')}\n### Choices\n\n\`\`\`typescript\n${shortTypes(unions.join('\n\n'))}\n\`\`\`\n`,
    `${responseHead}${responses.map(response).join('\n')}\n`,
  ].join('\n')
}

const responseHead = `## Responses

Members with a \`?\` may be null. An editor, and \`/api/docs\` of an installation, describe each. Codes are in [errors](errors.md) and
[late starts](activity-log.md#late-starts).

`

function section(name: string, lines: string[]): string {
  return `## ${name}\n\n${lines.join('\n')}\n`
}

function methodsOf(name: string, text: string): string[] {
  const [owner, part] = name.split('.')
  const start = new RegExp(`function ${owner}Of\\(http: Http\\): \\{`).exec(text)
  if (!start) throw new Error(`The package does not declare ${name}.`)
  const all = membersOf(text.slice(start.index + start[0].length))
  const members = part ? innerOf(all.find(member => member.name === part)?.type ?? '') : all
  return members.filter(({ type }) => /^(: )?\(/.test(type)).map(member => method(`${name}.`, member))
}

function method(owner: string, { comment, name, type }: Member): string {
  // Some methods are declared as properties: `: (id: Id) => Promise<Task>`.
  const declared = type.startsWith(': (') ? type.slice(2).replace(/\) => (?!.*\) => )/, '): ') : type
  const signature = onOneLine(declared.replace(/,?\s*options\?: RequestOptions\)/, ')'))
  const [, body = ''] = /\bbody\??: \{([\s\S]*)\}/.exec(type) ?? []
  const fields = membersOf(`${body}}`).map(field => `\n  - \`${field.name}\`: ${field.comment}`)
  return `- \`${owner}${name}${signature}\`: ${inShort(comment)}${fields.join('')}`
}

// The first sentence, and those about refusals and parameters.
function inShort(comment: string): string {
  const [first, ...others] = comment.split(/(?<=\.)\s+(?=[A-Z`])/)
  const kept = others.filter(sentence => /^(Throws|Requires|Parameter)/.test(sentence))
  return [first, ...kept].join(' ').replace(/Throws `ConflictError` \((.*)\)/, 'Throws $1')
}

function onOneLine(type: string): string {
  return type
    .replace(/\/\*[\s\S]*?\*\//g, '')
    .replace(/\s+/g, ' ')
    .replace(/; \}/g, ' }')
    .trim()
}

// A response is the names of its members, with the types that have a name of their own.
function response({ type: declaration }: Member): string {
  const [, name, type = ''] = /^ type (\w+) = ([\s\S]*)$/.exec(declaration) ?? []
  const members = innerOf(type).map(memberName)
  const base = onOneLine(type.replace(/\{[\s\S]*\}/, ''))
  return `- **${name}**: ${[...(base ? [`\`${base.replace(/ &$/, '')}\``] : []), ...members].join(', ')}`
}

function memberName({ name, type }: Member): string {
  // The filter of an operation has the members of the request's.
  const inner = name === 'filter' ? [] : innerOf(type).map(memberName)
  const [own] = /\b(?!Id|Timestamp|Record|Array)[A-Z]\w+/.exec(innerOf(type).length > 0 ? '' : type) ?? []
  const text = `\`${name}${/^\?|\| null$/.test(type) ? '?' : ''}${own ? `: ${own}` : ''}\``
  return inner.length > 0 ? `${text} (${inner.join(', ')})` : text
}

function innerOf(type: string): Member[] {
  const start = type.replace(/\/\*[\s\S]*?\*\//g, text => ' '.repeat(text.length)).indexOf('{')
  return start < 0 ? [] : membersOf(type.slice(start + 1))
}

// Splits the body of an object type at the semicolons outside of braces and parentheses.
function membersOf(text: string): Member[] {
  const members: Member[] = []
  let depth = 0
  let from = 0
  for (let at = 0; at < text.length; at++) {
    if (text.startsWith('/*', at)) at = text.indexOf('*/', at) + 1
    else if ('{('.includes(text[at] ?? '')) depth += 1
    else if ('})'.includes(text[at] ?? '') && --depth < 0) break
    else if (text[at] === ';' && depth === 0) {
      members.push(memberOf(text.slice(from, at)))
      from = at + 1
    }
  }
  return members
}

function memberOf(text: string): Member {
  const [, comment = '', name = '', type = ''] = /^\s*(?:\/\*\*([\s\S]*?)\*\/\s*)?(\w+)([\s\S]*)$/.exec(text) ?? []
  return { comment: plain(comment), name, type: type.trimEnd() }
}

function functionsOf(text: string): Member[] {
  const found = text.matchAll(
    /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*(?:export )?declare function (\w+)([^;]*(?:\{[^}]*\}[^;]*)*);/g,
  )
  return Array.from(found, ([, comment = '', name = '', type = '']) => ({ comment: plain(comment), name, type }))
}

// Tags become sentences of their own.
function plain(comment: string): string {
  const lines = comment.split('\n').map(line => line.replace(/^\s*\*? ?/, '').trim())
  return lines
    .join(' ')
    .trim()
    .replace(/ ?@param (\w+) - /g, ' Parameter `$1`: ')
    .replace(/ ?@returns /g, ' Returns ')
    .replace(/ ?@throws (\w+)\.?(?= @|$)/g, ' Throws `$1`.')
    .replace(/ ?@throws (\w+)/g, ' Throws `$1`')
}

// Comments become lines before their members. Functions have a section of their own, and `ApiError` has the members of
// `Problem`.
function shortTypes(text: string): string {
  return text
    .replace(/^import .*$/gm, '')
    .replace(/^export \{\};?$/gm, '')
    .replace(/\/\*\*(?:(?!\*\/)[\s\S])*\*\/\s*(?:export )?declare function [\s\S]*?;\n(?=\/\*\*|export|declare|$)/g, '')
    .replace(/\/\*\* [^*]*\*\/\s*export (type Problem =|declare const) [\s\S]*?^\};$/gm, '')
    .replace(/^( *)\/\*\*((?:(?!\*\/)[\s\S])*)\*\//gm, (_, indent: string, comment: string) =>
      asLines(plain(comment), indent),
    )
    .replace(/^export (declare )?/gm, '')
    .replace(/^(class .*\{\n) {4}name: string;\n/gm, '$1')
    .replace(/^ {4}(constructor\(.*\)|\w+\?: (undefined|never));\n/gm, '')
    .replace(/^ {4}readonly /gm, '    ')
    .replace(/ \{\s*\}$/gm, '')
    .replace(/;$/gm, '')
    .replace(/\n{2,}/g, '\n')
    .trim()
}

function asLines(text: string, indent: string): string {
  const lines = text.match(/.{1,116}(?: |$)/g) ?? []
  return lines.map(line => `${indent}// ${line.trim()}`).join('\n')
}
