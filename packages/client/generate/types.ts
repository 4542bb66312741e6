import { nameOf } from '@belfry/contract/openapi/example'
import type { JsonSchema } from '@belfry/contract/openapi/json-schema'
import { camel } from '../src/case.ts'
import { clientMethods, type Field, fieldsOf, isNullable, optionsOf, propertiesOf, resolve } from './client-methods.ts'
import { comment, importsOf } from './typescript.ts'

/** Types that this library names, by the names of their schemas. */
const ownNames: Record<string, string> = {
  Retry: 'RetryPolicy',
  Condition: 'Condition',
  OrganizationPolicy: 'Policy',
  RetryRequest: 'RetryInput',
  RetryChange: 'RetryInput',
  QueueRequest: 'string | QueueInput',
  CallbackRequest: 'CallbackTarget',
}

/** Long lists of codes have a name: the field with one of them, and what they are. */
const codeLists: Record<string, { schema: string; field: string; about: string; more?: string[] }> = {
  ProblemCode: {
    schema: 'Problem',
    field: 'code',
    about: 'The `code` of an error response. The last two are from this library: the response is not from Belfry.',
    more: ['invalid_answer', 'redirected'],
  },
  RunErrorCode: { schema: 'LastRun', field: 'error_code', about: 'Why an attempt failed.' },
  WaitReason: { schema: 'Run', field: 'waited_for', about: 'What a late attempt waited for, for most of the time.' },
  StateReason: { schema: 'Task', field: 'state_reason', about: 'Why a task ended without the outcome of an attempt.' },
}

// The same by one of the codes.
const codes: Record<string, string> = {
  worker_lost: 'RunErrorCode',
  host_concurrency: 'WaitReason',
  monthly_execution_limit: 'StateReason',
  'organization.read': 'string',
}
const codesOfRequests: Record<string, string> = { ...codes, retrying: 'TaskState', callback: 'Source' }

export function codeTypes(): string {
  const types = Object.entries(codeLists).map(([name, { schema, field, about, more = [] }]) => {
    const whole = propertiesOf({ $ref: schema })[field] ?? {}
    const { enum: values } = optionsOf(whole)[0] ?? whole
    const union = [...(values as string[]), ...more].map(value => `  | '${value}'`)
    return [comment(about), `export type ${name} =`, ...union].join('\n')
  })
  return `// Generated from the operations of the API.\n${types.join('\n\n')}\n`
}

export function responseTypes(): string {
  const names = responseNames()
  const texts = names.map(name => {
    const { description } = resolve({ $ref: name })
    const base = names.find(other => other !== name && name.startsWith(other) && extendsType(name, other))
    const inherited = base ? Object.keys(propertiesOf({ $ref: base })) : []
    const own = fieldsOf({ $ref: name }).filter(field => !inherited.includes(field.name))
    const options = optionsOf(resolve({ $ref: name })).map(option => objectOf(fieldsOf(option), name))
    const members = options.length > 0 ? options.join(' | ') : objectOf(own, name)
    const about = description ? `${comment(String(description))}\n` : ''
    return `${about}export type ${ownNames[name] ?? name} = ${base ? `${base} & ` : ''}${members}`
  })
  const code = `${derived}\n${texts.join('\n\n')}\n`
  return `// Generated from the operations of the API.\n${importsOf(code)}\n\n${code}`
}

const derived = `/** Why a due task waits. */
export type Blocked = BlockedByHost | BlockedByPause | BlockedByQueue | BlockedByHold

/**
 * How long the steps of a call took, in milliseconds. A step is null when the call had none or did not complete it; a call on a
 * kept-alive connection has only \`firstByteMs\`.
 */
export type RunTimings = NonNullable<Run['timings']>

/** One page of the log. */
export type RunPage = Page<Run> & {
  /** Whether Belfry read object storage for this page. That is slower. */
  fromStorage: boolean
}
`

// Types of responses that are written by hand, by the names of their schemas.
const byHand = ['TaskBatch', 'RowError', 'FieldError']

// The schemas of responses that have a type, in the order of their appearance.
function responseNames(): string[] {
  const names = new Set<string>()
  const add = (schema: JsonSchema): void => {
    const name = nameOf(schema)
    if (name && (names.has(name) || byHand.includes(name))) return
    if (name) names.add(name)
    const { anyOf = [], oneOf = [], items, additionalProperties, properties = {} } = resolve(schema)
    for (const part of [anyOf, oneOf, items, additionalProperties, Object.values(properties as object)].flat()) {
      if (typeof part === 'object' && part !== null) add(part as JsonSchema)
    }
  }
  for (const { result, kind } of clientMethods()) if (result && (kind === 'call' || kind === 'list')) add(result)
  return [...names]
}

function extendsType(name: string, base: string): boolean {
  const own = propertiesOf({ $ref: name })
  return Object.entries(propertiesOf({ $ref: base })).every(
    ([field, schema]) => JSON.stringify(own[field]) === JSON.stringify(schema),
  )
}

function objectOf(fields: Field[], place: string): string {
  return typeOfObject(
    fields,
    ({ name }) => camel(name),
    ({ name, schema }) => (`${place}.${name}` === 'Task.blocked' ? 'Blocked | null' : typeOf(schema, 'output', name)),
  )
}

/** Returns the type of an object with these members, each with its text. */
export function typeOfObject(
  fields: Field[],
  named: (field: Field) => string,
  typed: (field: Field) => string,
): string {
  const members = fields.map(field => {
    const says = field.text ? `${comment(field.text)}\n` : ''
    return `${says}${named(field)}${field.isRequired ? '' : '?'}: ${typed(field)}`.replace(/^/gm, '  ')
  })
  return `{\n${members.join('\n')}\n}`
}

/** Returns the type of a schema in a request or a response. `name` is the name of the member that has it. */
export function typeOf(schema: JsonSchema, io: 'input' | 'output', name = ''): string {
  const options = optionsOf(schema)
  const all = (options.length > 0 ? options : [schema]).map(option => plainType(option, io, name))
  return [...new Set([...all, ...(isNullable(schema) ? ['null'] : [])])].join(' | ')
}

function plainType(schema: JsonSchema, io: 'input' | 'output', name: string): string {
  const named = nameOf(schema)
  if (named && (io === 'output' || named in ownNames)) return ownNames[named] ?? named
  const { enum: values, const: value, properties, additionalProperties, items, format, pattern, type } = resolve(schema)
  if (Array.isArray(values)) {
    const known = io === 'input' ? codesOfRequests : codes
    const code = values.find(value => value in known)
    return known[code] ?? (name === 'method' ? 'string' : values.map(one => `'${one}'`).join(' | '))
  }
  if (value !== undefined) return typeof value === 'string' ? `'${value}'` : String(value)
  const [kind] = [type].flat().filter(one => one !== 'null')
  if (kind === 'object' && properties) return objectOfSchema(schema, io, name)
  if (kind === 'object') {
    const values = (additionalProperties ?? {}) as JsonSchema
    return `Record<string, ${Object.keys(values).length > 0 ? typeOf(values, io) : 'unknown'}>`
  }
  if (kind === 'array') {
    const item = typeOf((items ?? {}) as JsonSchema, io)
    return /[|{]/.test(item) ? `Array<${item}>` : `${item}[]`
  }
  if (kind === 'string' && format === 'date-time') return io === 'input' ? 'TimestampInput' : 'Timestamp'
  if (kind === 'string' && /^\^[a-z]+_\[0-7\]/.test(String(pattern))) return 'Id'
  return { string: 'string', integer: 'number', number: 'number', boolean: 'boolean' }[String(kind)] ?? 'unknown'
}

// The members of an object in a request, such as a limit, need no text.
function objectOfSchema(schema: JsonSchema, io: 'input' | 'output', name: string): string {
  if (io === 'output') return objectOf(fieldsOf(schema), name)
  const members = fieldsOf(schema).map(
    field => `${camel(field.name)}${field.isRequired ? '' : '?'}: ${typeOf(field.schema, io)}`,
  )
  return `{ ${members.join('; ')} }`
}
