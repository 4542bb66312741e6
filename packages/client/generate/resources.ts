import { nameOf } from '@belfry/contract/openapi/example'
import type { JsonSchema } from '@belfry/contract/openapi/json-schema'
import { type ClientMethod, clientMethods, optionsOf, propertiesOf, resources } from './client-methods.ts'
import { bodyOf, inputs, inputTypes } from './inputs.ts'
import { pascal } from './text.ts'
import { responseTypes } from './types.ts'
import { comment, importsOf, typesOfModules } from './typescript.ts'

/** Methods whose code is more than a request. */
const special: Record<string, string> = {
  'tasks.createMany': `async createMany(tasks: readonly CreateTask[], options?: CreateOptions): Promise<BatchResult[]> {
  const body = \`{"tasks":[\${tasks.map(toNewBody).join(',')}]}\`
  const { data } = await http.create<{ data: BatchResult[] }>('/api/v1/scheduler/tasks/batch', body, options)
  return data
}`,
  'runs.tail': `tail: (options?: TailOptions): AsyncGenerator<Run> =>
  tailRuns(http, '/api/v1/scheduler/runs/stream', options)`,
  'workspaces.secrets.put': `put: (workspaceId: Id, name: string, secret: string | PutSecret, options?: RequestOptions): Promise<Secret> => {
  const body = toBody(typeof secret === 'string' ? { value: secret } : secret)
  return http.put(path\`/api/v1/workspaces/\${workspaceId}/secrets/\${name}\`, body, options)
}`,
  'organizations.auditStream.put': `put: (id: Id, url: string, options?: RequestOptions): Promise<AuditStream> =>
  http.put(path\`/api/v1/organizations/\${id}/audit-stream\`, toBody({ url }), options)`,
}

const groups: Record<string, string> = {
  'subscriptions.signingSecrets':
    'The secrets that sign the calls of a subscription instead of those of the workspace.',
  'workspaces.federatedCredentials': 'The trust in tokens of CI jobs, which exchange them for API keys.',
  'workspaces.secrets': 'Values that requests refer to, and that are never returned.',
  'workspaces.connections': 'How calls prove who they are.',
  'workspaces.signingKeys': 'The public keys of signatures.',
  'workspaces.signingSecrets': 'The secrets that sign deliveries.',
  'organizations.auditStream': 'The webhook that receives new audit entries. Requires an owner.',
}

/** Types that have the name of a resource. */
const aliases: Record<string, string> = { Hosts: 'HostList', Status: 'ProcessStatus' }

export function clientResources(): string {
  const code = Object.entries(resources)
    .map(([resource, text]) => resourceText(resource, text))
    .join('\n\n')
  const declared = [...`${responseTypes()}${inputTypes()}`.matchAll(/^export type (\w+)/gm)].map(
    ([, name = '']) => name,
  )
  const types = [...declared, 'BatchResult', 'PageOptions', 'PutSecret', ...Object.values(typesOfModules).flat()]
  const named = [...new Set(types)].map(name => (aliases[name] ? `${name} as ${aliases[name]}` : name))
  return `// Generated from the operations of the API.
import { followOperation } from '../follow-operation.ts'
import type { Http } from '../http.ts'
import { type List, list } from '../list.ts'
import { openExport } from '../open-export.ts'
import type { CreateOptions, ProgressOptions, RequestOptions, TailOptions } from '../options.ts'
import { path } from '../path.ts'
import { toBody, toDispatchBody, toNewBody, withPayload } from '../request-body.ts'
import { tailRuns } from '../tail-runs.ts'
${importsOf(code, { '../types/index.ts': named })}

${code}

${resourcesClass()}
`
}

function resourcesClass(): string {
  const members = Object.entries(resources).map(
    ([name, text]) => `  /** ${text} */\n  readonly ${name}: ${pascal(name)}`,
  )
  const bindings = Object.keys(resources).map(name => `    this.${name} = ${name}Of(http)`)
  return `/** The resources, as members of a client. */
export class Resources {
${members.join('\n')}

  /** @param http - Sends the requests of all methods. */
  constructor(http: Http) {
${bindings.join('\n')}
  }
}`
}

function resourceText(resource: string, text: string): string {
  const methods = clientMethods().filter(method => method.resource === resource)
  const plain = methods
    .filter(({ name }) => !name.includes('.'))
    .flatMap(one => [methodText(one), ...progressText(one)])
  const nested = Object.entries(groups).flatMap(([name, text]) => {
    const members = methods.filter(method => `${resource}.${method.name}`.startsWith(`${name}.`))
    const group = `/** ${text} */\n${name.split('.')[1]}: {\n${indented(members.map(methodText), '  ')},\n}`
    return members.length > 0 ? [group] : []
  })
  return `/** ${text} */
export type ${pascal(resource)} = ReturnType<typeof ${resource}Of>

function ${resource}Of(http: Http) {
  return {
${indented([...plain, ...nested], '    ')},
  }
}`
}

const indented = (parts: string[], indent: string) => parts.join(',\n\n').replace(/^(?=.)/gm, indent)

function methodText(method: ClientMethod): string {
  const full = `${method.resource}.${method.name}`
  const codes = method.conflicts.map(code => `\`${code}\``).join(', ')
  const about = [
    method.text,
    ...(method.isIdempotent ? ['Retries are safe.'] : []),
    ...(codes ? [`Throws \`ConflictError\` (${codes}).`] : []),
  ]
  return `${comment(about.join(' '))}\n${special[full] ?? plainMethod(method, inputs[full])}`
}

function plainMethod(method: ClientMethod, input: string | undefined): string {
  const names = parametersOf(method)
  const path = names.reduce((to, { name }) => to.replace(/:\w+/, `\${${name}}`), method.path)
  const target = names.length === 0 ? `'${path}'` : `path\`${path}\``
  const isOptional =
    method.method !== 'PATCH' && !('oneOf' in method.input) && method.body.every(({ isRequired }) => !isRequired)
  const parameters = [
    ...names.map(({ name, type }) => `${name}: ${type}`),
    ...(method.body.length > 0 ? [`body: ${input ?? bodyOf(method.body)}${isOptional ? ' = {}' : ''}`] : []),
    ...(hasQuery(method) ? [`query: ${input ?? 'PageOptions'} = {}`] : []),
    `options?: ${method.isIdempotent ? 'CreateOptions' : 'RequestOptions'}`,
  ]
  return `${method.name.split('.').at(-1)}: (${parameters.join(', ')}): ${resultOf(method)} =>\n  ${callOf(method, target)}`
}

const hasQuery = ({ query, kind }: ClientMethod) => query.length > 0 || kind === 'list'

function callOf(method: ClientMethod, target: string): string {
  if (method.kind === 'list') return `list(http, ${target}, query, options)`
  if (method.kind === 'export') return `openExport(http, ${target}, query, options)`
  if (method.method === 'GET') return `http.get(${target}, options${hasQuery(method) ? ', query' : ''})`
  if (method.method === 'DELETE') return `http.delete(${target}, options)`
  const body = method.body.length > 0 ? `${conversionOf(method)}(body)` : 'undefined'
  return `http.${method.isIdempotent ? 'create' : method.method.toLowerCase()}(${target}, ${body}, options)`
}

function conversionOf({ body }: ClientMethod): string {
  const has = (wanted: string, isRequired = false) =>
    body.some(field => field.name === wanted && (field.isRequired || !isRequired))
  if (has('url')) return has('name', true) ? 'toNewBody' : 'toDispatchBody'
  return has('payload') ? 'withPayload' : 'toBody'
}

// A bulk operation in the background can be followed.
function progressText({ method, path, result }: ClientMethod): string[] {
  const shape = result ? nameOf(result) : undefined
  if (method !== 'GET' || !shape?.endsWith('Operation')) return []
  const count = { TaskOperation: 'ended', DeadLetterOperation: 'settled' }[shape] ?? 'done'
  const get = `(id, options) => http.get(path\`${path.replace(/:\w+/, '$' + '{id}')}\`, options)`
  return [
    `/** Yields each change of an operation's progress until it has ended. */
progress: (id: Id, options?: ProgressOptions): AsyncGenerator<${shape}> =>
  followOperation(${get}, id, '${count}', options)`,
  ]
}

function parametersOf({ parameters, resource }: ClientMethod) {
  return parameters.map((parameter, i) => {
    if (parameter === 'host') return { name: 'host', type: 'string' }
    if (['name', 'queue', 'connection'].includes(parameter)) return { name: 'name', type: 'string' }
    const short: Record<string, string> = { ws: 'workspaceId', secret: 'secretId', fed: 'credentialId' }
    const isOnly = parameters.length === 1
    if (isOnly) return { name: resource === 'workspaces' && parameter === 'org' ? 'organizationId' : 'id', type: 'Id' }
    return { name: (i > 0 || parameter === 'ws' ? short[parameter] : 'id') ?? 'id', type: 'Id' }
  })
}

function resultOf({ kind, result }: ClientMethod): string {
  if (kind === 'export') return 'Promise<ReadableStream<Uint8Array>>'
  if (result === null) return 'Promise<void>'
  const named = (schema: JsonSchema) => aliases[nameOf(schema) ?? ''] ?? nameOf(schema) ?? ''
  if (kind === 'list') {
    const item = named((propertiesOf(result).data as { items: JsonSchema }).items)
    return 'from_storage' in propertiesOf(result) ? `List<${item}, RunPage>` : `List<${item}>`
  }
  const shapes = optionsOf(result).length > 0 ? optionsOf(result) : [result]
  return `Promise<${shapes.map(named).join(' | ')}>`
}
