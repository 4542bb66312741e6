import type { JsonSchema } from '@belfry/contract/openapi/json-schema'
import { clientMethods, fieldsOf, isNullable, nameOf, optionsOf, propertiesOf, resolve } from './client-methods.ts'
import { camel, comment } from './words.ts'

/** The schemas of responses that have a type in the client, in the order of their appearance. */
function responseNames(): string[] {
  const names = new Set<string>()
  const add = (schema: JsonSchema): void => {
    const name = nameOf(schema)
    if (name) {
      if (names.has(name) || name in byHand) return
      names.add(name)
    }
    const { anyOf = [], oneOf = [], items, additionalProperties, properties = {} } = resolve(schema)
    for (const part of [anyOf, oneOf, items, additionalProperties, Object.values(properties as object)].flat()) {
      if (typeof part === 'object' && part !== null) add(part as JsonSchema)
    }
  }
  for (const { result, kind } of clientMethods()) if (result && (kind === 'call' || kind === 'list')) add(result)
  return [...names]
}

/** Types that are written by hand, by the names of their schemas. */
const byHand: Record<string, string> = {
  Retry: 'RetryPolicy',
  Condition: 'Condition',
  TaskBatch: 'BatchResult',
  FieldError: 'FieldError',
  RowError: 'BatchResult',
}

// Parts of other objects that have a name in this library.
const parts: Record<string, string> = {
  'Run.timings': 'RunTimings',
  'RunDetail.timings': 'RunTimings',
  'Task.blocked': 'Blocked',
}

/** Returns the types of responses. */
export function clientTypes(): string {
  const names = responseNames()
  const texts = names.map(name => {
    const { description } = resolve({ $ref: name })
    const base = names.find(other => other !== name && name.startsWith(other) && extendsType(name, other))
    const inherited = base ? Object.keys(propertiesOf({ $ref: base })) : []
    const type = `${base ? `${typeName(base)} & ` : ''}${objectType({ $ref: name }, name, inherited)}`
    return `${description ? `${comment(String(description), '')}\n` : ''}export type ${typeName(name)} = ${type}`
  })
  return `// Generated from the operations of the API.
import type { RunErrorCode, StateReason, WaitReason } from '../codes.ts'
import type { Condition } from '../types/event.ts'
import type { Id, Page, RetryPolicy, Timestamp } from '../types/request.ts'

/** Why a due task waits. */
export type Blocked = BlockedByHost | BlockedByPause | BlockedByQueue | BlockedByHold

/**
 * How long the steps of a call took, in milliseconds. A step is null when the call had none or did not complete it; a call on a
 * kept-alive connection has only \`firstByteMs\`.
 */
export type RunTimings = NonNullable<Run['timings']>

/** One page of the log. */
export type RunPage = Page<Run> & {
  /** Whether Belfry read object storage for this page, which is slower. */
  fromStorage: boolean
}

${texts.join('\n\n')}
`
}

function extendsType(name: string, base: string): boolean {
  const own = propertiesOf({ $ref: name })
  return Object.entries(propertiesOf({ $ref: base })).every(
    ([field, schema]) => JSON.stringify(own[field]) === JSON.stringify(schema),
  )
}

function typeName(name: string): string {
  return { OrganizationPolicy: 'Policy' }[name] ?? byHand[name] ?? name
}

function objectType(schema: JsonSchema, place: string, inherited: readonly string[] = []): string {
  const own = fieldsOf(schema).filter(({ name }) => !inherited.includes(name))
  const members = own.map(({ name, schema: type, isRequired, text }) => {
    const says = text
      ? `${comment(text, '  ')}
`
      : ''
    const part = parts[`${place}.${name}`]
    const code =
      part && part !== 'RunTimings' ? `${part}${isNullable(type) ? ' | null' : ''}` : typeOf(type, 'output', name)
    return `${says}${camel(name)}${isRequired ? '' : '?'}: ${code}`
  })
  return `{\n${members.join('\n')}\n}`
}

// Long lists of codes have a name.
const codes: Array<[member: string, name: string]> = [
  ['worker_lost', 'RunErrorCode'],
  ['host_concurrency', 'WaitReason'],
  ['monthly_execution_limit', 'StateReason'],
]

export function typeOf(schema: JsonSchema, io: 'input' | 'output', name = ''): string {
  const options = optionsOf(schema)
  const all = options.length > 0 ? options.map(option => plainType(option, io, name)) : [plainType(schema, io, name)]
  return [...new Set([...all, ...(isNullable(schema) ? ['null'] : [])])].join(' | ')
}

function plainType(schema: JsonSchema, io: 'input' | 'output', name: string): string {
  const named = nameOf(schema)
  if (named && io === 'output') return typeName(named)
  const {
    enum: values,
    const: value,
    properties,
    additionalProperties,
    items,
    format,
    pattern,
    ...target
  } = resolve(schema)
  if (Array.isArray(values)) {
    const code = codes.find(([member]) => values.includes(member))
    return code?.[1] ?? (name === 'method' ? 'string' : values.map(one => `'${one}'`).join(' | '))
  }
  if (value !== undefined) return typeof value === 'string' ? `'${value}'` : String(value)
  const [kind] = [target.type].flat().filter(type => type !== 'null')
  if (kind === 'object' && properties) {
    const policy = io === 'input' && name === '' ? fieldsOf(schema) : null
    return policy
      ? `{ ${policy.map(({ name, schema, isRequired }) => `${camel(name)}${isRequired ? '' : '?'}: ${typeOf(schema, io)}`).join('; ')} }`
      : objectType(schema, name)
  }
  if (kind === 'object') {
    const values = additionalProperties as JsonSchema | undefined
    return `Record<string, ${values && Object.keys(values).length > 0 ? typeOf(values, io) : 'unknown'}>`
  }
  if (kind === 'array') {
    const item = typeOf((items ?? {}) as JsonSchema, io)
    return /[|{]/.test(item) ? `Array<${item}>` : `${item}[]`
  }
  if (kind === 'string' && format === 'date-time') return io === 'input' ? 'types.TimestampInput' : 'Timestamp'
  if (kind === 'string' && /^\^[a-z]+_\[0-7\]/.test(String(pattern))) return io === 'input' ? 'types.Id' : 'Id'
  return { string: 'string', integer: 'number', number: 'number', boolean: 'boolean' }[String(kind)] ?? 'unknown'
}
