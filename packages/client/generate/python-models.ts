import { nameOf } from '@belfry/contract/openapi/example'
import type { JsonSchema } from '@belfry/contract/openapi/json-schema'
import { type ClientMethod, clientMethods, fieldsOf, isNullable, optionsOf, resolve } from './client-methods.ts'
import { pascal } from './text.ts'

export const indent = (lines: string[], by = '    ') => lines.map(line => (line === '' ? '' : by + line))
export const doc = (text: string) => `"""${text.replaceAll('\\', '\\\\')}"""`

// The names of arguments that are not the names of the HTTP API.
export const argument: Record<string, string> = { from: 'since', to: 'until', url: 'target_url' }

// The classes of unnamed objects, and of unions.
const shortNames: Record<string, string> = {
  ...{
    RunDetailRequest: 'RunRequest',
    RunDetailResponse: 'RunResponse',
    RunDetailError: 'RunError',
    RunDetailTimings: 'RunTimings',
  },
  ...{ TaskBlocked: 'Blocked', TaskBatchData: 'BatchResult', RowError: 'BatchError', CronJobRetry: 'Retry' },
}

export function shapeOf({ result, kind }: ClientMethod): string | null {
  if (result === null || kind !== 'list') return result && classOf(result, '')
  const { data } = resolve(result).properties as { data: { items: JsonSchema } }
  return classOf(data.items, '')
}

// Remembers the class, so it is written with the others.
const classes = new Map<string, JsonSchema>()

function classOf(schema: JsonSchema, place: string): string {
  const options = optionsOf(schema)
  const named = nameOf(schema) ?? (options.length > 0 ? nameOf(options[0] ?? {}) : undefined)
  const isUnion = options.length > 1 && place !== ''
  const name = isUnion || named === undefined ? place : named
  const short = shortNames[name] ?? name
  if (!classes.has(short)) classes.set(short, isUnion || options.length === 0 ? schema : (options[0] ?? schema))
  return short
}

export function pythonModels(): string {
  classes.clear()
  for (const method of clientMethods()) if (method.kind === 'call' || method.kind === 'list') shapeOf(method)
  classOf({ $ref: '#/components/schemas/TaskBatch' }, '')
  const written = new Map<string, string>()
  for (const [name, schema] of classes) written.set(name, classText(name, schema))
  return `"""The objects that Belfry returns. Generated from the operations of the API.

Fields have the names of the HTTP API; times are aware datetimes in UTC. A field that this version does not know is in
\`raw\`. A field that the server does not return is None or empty.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ._decode import Page as Page
from ._decode import decode as decode


${[...written.values()].join('\n\n\n')}
`
}

function classText(name: string, schema: JsonSchema): string {
  const text = String(resolve(schema).description ?? '')
  const fields = fieldsOf(schema).flatMap(({ name: member, schema: type, text, isRequired }) => {
    const code = typeOf(type, 'output', `${name}${pascal(member)}`)
    const optional = isRequired || code === 'Any' || code.endsWith('| None') ? code : `${code} | None`
    return [`${argument[member] && member !== 'url' ? argument[member] : member}: ${optional}`, doc(text)]
  })
  const raw = 'raw: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)'
  return [
    '@dataclass(frozen=True, kw_only=True)',
    `class ${name}:`,
    ...indent([...(text ? [doc(text), ''] : []), ...fields, raw]),
  ].join('\n')
}

export function typeOf(schema: JsonSchema, io: 'input' | 'output', place = ''): string {
  const type = plainType(schema, io, place)
  return isNullable(schema) && type !== 'Any' ? `${type} | None` : type
}

function plainType(schema: JsonSchema, io: 'input' | 'output', place: string): string {
  const options = optionsOf(io === 'input' ? resolve(schema) : schema)
  const [only] = options
  if (only && options.length === 1) return plainType(only, io, place)
  const target = resolve(schema)
  const isObject = target.type === 'object' || options.some(option => resolve(option).type === 'object')
  if (options.length > 1 && io === 'input') {
    return [...new Set(options.map(option => plainType(option, io, place)))].join(' | ')
  }
  if (isObject || (nameOf(schema) && optionsOf(target).length > 0)) {
    if (io === 'input') return 'Mapping[str, Any]'
    if (!target.properties && options.length === 0 && optionsOf(target).length === 0) {
      const values = target.additionalProperties as JsonSchema | undefined
      return `dict[str, ${values && 'type' in values ? plainType(values, io, place) : 'Any'}]`
    }
    return classOf(schema, place)
  }
  const [kind] = [target.type].flat().filter(one => one !== 'null')
  if (kind === 'array') {
    const items = plainType((target.items ?? {}) as JsonSchema, io, place)
    return io === 'input' ? `Sequence[${items}]` : `list[${items}]`
  }
  if (kind === 'string' && target.format === 'date-time') return io === 'input' ? 'Time' : 'datetime'
  if (kind === 'string' && io === 'input' && Array.isArray(target.enum)) {
    return place === '' && !target.enum.includes('GET')
      ? `Literal[${target.enum.map(value => `"${value}"`).join(', ')}]`
      : 'str'
  }
  return { string: 'str', integer: 'int', number: 'float', boolean: 'bool' }[String(kind)] ?? 'Any'
}
