import type { JsonSchema } from '@belfry/contract/openapi/json-schema'
import { type ClientMethod, clientMethods, nameOf, optionsOf, propertiesOf, resources } from './client-methods.ts'
import { typeOf } from './response-types.ts'
import { camel, comment, pascal } from './words.ts'

/** The types of bodies and queries that are written by hand, because the client takes more than the API does. */
const inputs: Record<string, string> = {
  'tasks.create': 'CreateTask',
  'tasks.update': 'UpdateTask',
  'tasks.replay': 'UpdateTask',
  'tasks.list': 'ListTasks',
  'tasks.count': 'Omit<ListTasks, keyof PageOptions>',
  'tasks.export': 'ExportTasks',
  'tasks.cancelMany': 'TaskChoice',
  'tasks.stopMany': 'TaskChoice',
  'deadLetters.list': 'ListDeadLetters',
  'deadLetters.replay': 'ReplayChoice',
  'deadLetters.discard': 'DeadLetterChoice',
  'bulkOperations.start': 'StartBulkOperation',
  'cronJobs.create': 'CreateCronJob',
  'cronJobs.update': 'UpdateCronJob',
  'cronJobs.list': 'ListCronJobs',
  'events.publish': 'PublishEvent',
  'subscriptions.create': 'CreateSubscription',
  'subscriptions.update': 'UpdateSubscription',
  'queues.list': 'ListQueues',
  'queues.put': 'QueueLimits',
  'queues.update': 'QueueLimits',
  'runs.list': 'ListRuns',
  'runs.failures': 'RunFailuresQuery',
  'runs.counts': 'RunCountsQuery',
  'runs.export': 'ExportRuns',
  'organizations.runs': 'ListOrganizationRuns',
  'workspaces.connections.put': 'PutConnection',
  'workspaces.federatedCredentials.create': 'NewFederatedCredential',
}

/** Methods whose code is more than a request. */
const special: Record<string, string> = {
  'tasks.createMany': `async createMany(tasks: readonly types.CreateTask[], options?: CreateOptions): Promise<types.BatchResult[]> {
      const body = \`{"tasks":[\${tasks.map(toNewBody).join(',')}]}\`
      const { data } = await http.create<{ data: types.BatchResult[] }>('/api/v1/scheduler/tasks/batch', body, options)
      return data
    }`,
  'runs.tail': `tail: (options?: TailOptions): AsyncGenerator<types.Run> =>
      tailRuns(http, '/api/v1/scheduler/runs/stream', options)`,
  'workspaces.secrets.put': `put: (
      workspaceId: types.Id,
      name: string,
      secret: string | types.PutSecret,
      options?: RequestOptions,
    ): Promise<types.Secret> => {
      const body = toBody(typeof secret === 'string' ? { value: secret } : secret)
      return http.put(path\`/api/v1/workspaces/\${workspaceId}/secrets/\${name}\`, body, options)
    }`,
  'organizations.auditStream.put': `put: (id: types.Id, url: string, options?: RequestOptions): Promise<types.AuditStream> =>
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

/** Returns the resources of the client. */
export function clientResources(): string {
  const methods = clientMethods()
  const functions = Object.entries(resources).map(([resource, text]) => {
    const own = methods.filter(method => method.resource === resource)
    const names = [...new Set(own.map(({ name }) => (name.includes('.') ? name.split('.')[0] : '') ?? ''))].filter(
      Boolean,
    )
    const nested = names.map(group => {
      const members = own.filter(({ name }) => name.startsWith(`${group}.`)).map(method => methodText(method))
      return `/** ${groups[`${resource}.${group}`]} */\n    ${group}: {\n${members.join(',\n\n')},\n}`
    })
    const plain = own
      .filter(({ name }) => !name.includes('.'))
      .flatMap(method => [methodText(method), ...progressText(method)])
    return `/** ${text} */
export type ${pascal(resource)} = ReturnType<typeof ${resource}Of>

export function ${resource}Of(http: Http) {
  return {
${[...plain, ...nested].join(',\n\n')},
  }
}`
  })
  // Two resources have the names of types.
  const alias: Record<string, string> = { Hosts: 'HostList', Status: 'ProcessStatus' }
  const used = new Set<string>()
  const code = functions.join('\n\n').replace(/\btypes\.(\w+)/g, (_, name: string) => {
    used.add(alias[name] ? `${name} as ${alias[name]}` : name)
    return alias[name] ?? name
  })
  return `// Generated from the operations of the API.
import { followOperation } from '../follow-operation.ts'
import type { Http } from '../http.ts'
import { type List, list } from '../list.ts'
import { openExport } from '../open-export.ts'
import type { CreateOptions, ProgressOptions, RequestOptions, TailOptions } from '../options.ts'
import { path } from '../path.ts'
import { toBody, toDispatchBody, toNewBody, withPayload } from '../request-body.ts'
import { tailRuns } from '../tail-runs.ts'
import type { ${[...used].sort().join(', ')} } from '../types/index.ts'

${code}
`
}

function methodText(method: ClientMethod): string {
  const full = `${method.resource}.${method.name}`
  const name = method.name.split('.').at(-1) ?? ''
  const throws =
    method.conflicts.length > 0
      ? ` Throws \`ConflictError\` (${method.conflicts.map(code => `\`${code}\``).join(', ')}).`
      : ''
  const retries = method.isIdempotent ? ' Retries are safe.' : ''
  const text = comment(`${method.text}${retries}${throws}`, '    ')
  const code = special[full]
  if (code !== undefined) return `${text}\n    ${code}`
  const names = parameterNames(method)
  const target =
    names.length === 0
      ? `'${method.path}'`
      : `path\`${names.reduce((to, one) => to.replace(/:\w+/, `\${${one.name}}`), method.path)}\``
  const input = inputs[full]
  const inputType = input?.replace(/[A-Z]\w+/g, word => (word === 'Omit' ? word : `types.${word}`))
  const body =
    method.body.length > 0
      ? {
          name: 'body',
          type: inputType ?? inlineInput(method),
          isOptional: method.method !== 'PATCH' && method.body.every(({ isRequired }) => !isRequired),
        }
      : null
  const query =
    method.query.length > 0 || method.kind === 'list'
      ? { name: 'query', type: body ? 'never' : (inputType ?? 'types.PageOptions') }
      : null
  const options = `options?: ${method.isIdempotent ? 'CreateOptions' : 'RequestOptions'}`
  const list = [
    ...names.map(({ name, type }) => `${name}: ${type}`),
    ...(body
      ? [
          `body: ${body.type}${body.isOptional && !input?.includes('Choice') && input !== 'StartBulkOperation' ? ' = {}' : ''}`,
        ]
      : []),
    ...(query ? [`query: ${query.type} = {}`] : []),
    options,
  ].join(', ')
  return `${text}\n    ${name}: (${list}): ${resultOf(method)} => ${callOf(method, target)}`
}

function callOf(method: ClientMethod, target: string): string {
  if (method.kind === 'list') return `list(http, ${target}, query, options)`
  if (method.kind === 'export') return `openExport(http, ${target}, query, options)`
  const names = method.body.map(({ name }) => name)
  const convert = names.includes('url')
    ? names.includes('name') && method.body.some(({ name, isRequired }) => name === 'name' && isRequired)
      ? 'toNewBody'
      : 'toDispatchBody'
    : names.includes('payload')
      ? 'withPayload'
      : 'toBody'
  const body = method.body.length > 0 ? `${convert}(body)` : 'undefined'
  switch (method.method) {
    case 'GET':
      return `http.get(${target}, options${method.query.length > 0 ? ', query' : ''})`
    case 'DELETE':
      return `http.delete(${target}, options)`
    default:
      return `http.${method.isIdempotent ? 'create' : method.method.toLowerCase()}(${target}, ${body}, options)`
  }
}

// A bulk operation in the background can be followed.
function progressText(method: ClientMethod): string[] {
  const shape = method.result ? nameOf(method.result) : undefined
  if (method.method !== 'GET' || !shape?.endsWith('Operation')) return []
  const count = { TaskOperation: 'ended', DeadLetterOperation: 'settled' }[shape] ?? 'done'
  return [
    `/** Yields each change of an operation's progress until it has ended. */
    progress: (id: types.Id, options?: ProgressOptions): AsyncGenerator<types.${shape}> =>
      followOperation((id, options) => http.get(path\`${method.path.replace(/:\w+/, '$' + '{id}')}\`, options), id, '${count}', options)`,
  ]
}

function parameterNames({ parameters, resource }: ClientMethod) {
  const texts = ['name', 'queue', 'connection', 'host']
  return parameters.map((parameter, i) => {
    const type = texts.includes(parameter) ? 'string' : 'types.Id'
    if (texts.includes(parameter)) return { name: parameter === 'host' ? 'host' : 'name', type }
    if (parameters.length === 1)
      return { name: resource === 'workspaces' && parameter === 'org' ? 'organizationId' : 'id', type }
    return {
      name:
        i === 0 ? (parameter === 'ws' ? 'workspaceId' : 'id') : parameter === 'secret' ? 'secretId' : 'credentialId',
      type,
    }
  })
}

function resultOf({ kind, result }: ClientMethod): string {
  if (kind === 'export') return 'Promise<ReadableStream<Uint8Array>>'
  if (result === null) return 'Promise<void>'
  if (kind === 'list') {
    const item = nameOf((propertiesOf(result).data as { items: JsonSchema }).items) ?? ''
    return 'from_storage' in propertiesOf(result) ? `List<types.${item}, types.RunPage>` : `List<types.${item}>`
  }
  const shapes = optionsOf(result).length > 0 ? optionsOf(result) : [result]
  return `Promise<${shapes.map(shape => `types.${nameOf(shape)}`).join(' | ')}>`
}

function inlineInput({ body }: ClientMethod): string {
  const members = body.map(({ name, schema, isRequired, text }) => {
    const says = text
      ? `${comment(text, '  ')}
`
      : ''
    return `${says}${name === 'url' ? 'targetUrl' : camel(name)}${isRequired ? '' : '?'}: ${typeOf(schema, 'input')}`
  })
  return `{\n${members.join('\n')}\n}`
}
