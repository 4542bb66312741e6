import type { JsonSchema } from '@belfry/contract/openapi/json-schema'
import { camel } from '../src/case.ts'
import { type ClientMethod, clientMethods, type Field, fieldsOf, optionsOf, resolve } from './client-methods.ts'
import { typeOf, typeOfObject } from './types.ts'
import { comment, importsOf } from './typescript.ts'

/** The names of the types of bodies and queries, by methods. A name without a declaration is made from others. */
export const inputs: Record<string, string> = {
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
  'queues.update': 'QueueLimits',
  'queues.put': 'QueueLimits',
  'runs.list': 'ListRuns',
  'runs.failures': 'RunFailuresQuery',
  'runs.counts': 'RunCountsQuery',
  'runs.export': 'ExportRuns',
  'organizations.runs': 'ListOrganizationRuns',
  'workspaces.connections.put': 'PutConnection',
  'workspaces.federatedCredentials.create': 'NewFederatedCredential',
}

export function inputTypes(): string {
  const methods = new Map(clientMethods().map(method => [`${method.resource}.${method.name}`, method]))
  const declared = new Map<string, string>()
  for (const [method, name] of Object.entries(inputs)) {
    const found = methods.get(method)
    if (found && /^\w+$/.test(name) && !declared.has(name)) declared.set(name, declaration(name, found))
  }
  const callback = bodyOf(fieldsOf({ $ref: 'CallbackRequest' }), 'url')
  declared.set(
    'CallbackTarget',
    `/** Where Belfry sends the outcome of a task. */\nexport type CallbackTarget = ${callback}`,
  )
  const retry = bodyOf(fieldsOf({ $ref: 'RetryRequest' }))
  const ofRetry = 'A new policy, or the changes of one. `delaysMs` excludes the other fields.'
  declared.set('RetryInput', `/** ${ofRetry} */\nexport type RetryInput = ${retry}`)
  const code = [...declared.values()].join('\n\n')
  return `// Generated from the operations of the API.\n${importsOf(code)}\n\n${code}\n`
}

function declaration(name: string, method: ClientMethod): string {
  const about = aboutInput(method)
  return `${about ? `${comment(about)}\n` : ''}export type ${name} = ${method.body.length > 0 ? bodyType(method) : filterOf(method.query)}`
}

function aboutInput({ method, body, input }: ClientMethod): string {
  if (body.length === 0)
    return 'Several values of one filter mean "or", different filters mean "and". Times: `from` ≤ t < `to`.'
  if (isChoice(input)) return 'Either ids or a filter; an empty filter selects all.'
  return method === 'PATCH' ? 'Omitted fields stay unchanged.' : ''
}

const isChoice = (input: JsonSchema) => Boolean(resolve(input).properties && resolve(input).oneOf)

function bodyType({ input, body }: ClientMethod): string {
  const schema = resolve(input)
  if (isChoice(schema)) return choiceOf(schema, body)
  if (optionsOf(schema).length > 0)
    return optionsOf(schema)
      .map(option => bodyOf(fieldsOf(option)))
      .join(' | ')
  if (!body.some(({ name }) => name === 'execute_at')) return bodyOf(asSent(body))
  const time = body.some(({ name, isRequired }) => name === 'execute_at' && isRequired)
    ? 'TaskTime'
    : 'Partial<TaskTime>'
  return `${bodyOf(asSent(body.filter(({ name }) => name !== 'execute_at' && name !== 'timezone')))} & ${time}`
}

// Of members that exclude each other, an object has one.
function choiceOf({ oneOf }: JsonSchema, body: Field[]): string {
  const names = (oneOf as Array<{ required: string[] }>).flatMap(({ required }) => required)
  const others = body.filter(({ name }) => !names.includes(name))
  const options = names.map(chosen => {
    const own = body.filter(({ name }) => name === chosen).map(field => ({ ...field, isRequired: true }))
    const left = names.filter(name => name !== chosen).map(name => `${camel(name)}?: undefined`)
    return `${bodyOf(own)} & { ${left.join('; ')} }`
  })
  return `${others.length > 0 ? `${bodyOf(others)} & ` : ''}(${options.join(' | ')})`
}

// What the client does with these members differs from what the API does.
const texts: Record<string, string> = {
  method: '',
  payload: 'A `Uint8Array` is sent unchanged, as the bytes of a raw body.',
  on_conflict:
    'When a pending task has the key: `reject` throws `ConflictError` (`key_in_use`), `keep` returns that task, `replace` gives it this request and time. Default `reject`.',
  on_past:
    'When the time has come already: `reject` throws `ValidationError`, `run` makes the call due at once. Default `reject`.',
}
const textsOfNew: Record<string, string> = {
  name: 'A display name of 1 to 200 characters. Default: the method and the URL without its query.',
  method: 'Default `POST`.',
}
const textsOfEvents: Record<string, string> = {
  payload: 'A JSON object, or its JSON text, which Belfry sends byte for byte.',
}

// The client adds the name and the method of a new request.
function asSent(body: Field[]): Field[] {
  const isNew = ['name', 'url', 'method'].every(name => body.some(field => field.name === name && field.isRequired))
  return body.map(field => {
    const { name, isRequired } = field
    const own = isNew && name in textsOfNew
    const text = (own ? textsOfNew : isRequired ? textsOfEvents : texts)[name] ?? field.text
    return { ...field, text, isRequired: isRequired && !own }
  })
}

export function bodyOf(fields: Field[], url = 'targetUrl'): string {
  return typeOfObject(fields, ({ name }) => (name === 'url' ? url : camel(name)), inputType)
}

function filterOf(fields: Field[]): string {
  return typeOfObject(
    fields,
    ({ name }) => camel(name),
    field => {
      if (field.schema.type !== 'array') return inputType(field)
      const items = field.schema.items as JsonSchema
      const item = field.name === 'response_status' ? 'number | string' : typeOf(items, 'input', field.name)
      return /[| ]/.test(item) ? `${item} | Array<${item}>` : `${item} | ${item}[]`
    },
  )
}

// The client converts more types than the API takes.
function inputType({ name, schema, isRequired }: Field): string {
  if (name === 'url' || name === 'target_url') return 'string | URL'
  if (name === 'method') return 'MethodInput'
  if (name === 'payload') return isRequired ? 'string | object' : 'PayloadInput | Uint8Array'
  if (name === 'filter' && resolve(schema).properties) return filterOf(fieldsOf(schema))
  return typeOf(schema, 'input', name)
}
