import { type ClientMethod, clientMethods, type Field, resources } from './client-methods.ts'
import { argument, doc, indent, shapeOf, typeOf } from './python-models.ts'
import { pascal, wrap } from './text.ts'

const snake = (name: string) => name.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

/** Returns the asynchronous client, whose resources follow from the operations. */
export function pythonClient(): string {
  const methods = clientMethods()
  const classes = Object.entries(resources).map(([resource, text]) =>
    [
      `class Async${pascal(resource)}:`,
      ...indent([doc(text), '', 'def __init__(self, http: AsyncHttp) -> None:', '    self._http = http']),
      ...methods.filter(method => method.resource === resource).flatMap(method => ['', ...indent(methodLines(method))]),
    ].join('\n'),
  )
  const bindings = Object.keys(resources).map(name => `        self.${snake(name)} = Async${pascal(name)}(http)`)
  return `${pythonHead}

${classes.join('\n\n\n')}


class AsyncBelfry(AsyncClient):
    """An asynchronous client of a Belfry installation. Close it, or use it in \`async with\`."""

    def _bind(self, http: AsyncHttp) -> None:
${bindings.join('\n')}
`
}

const pythonHead = `"""The asynchronous client. Generated from the operations of the API."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, Literal

from . import models
from ._async_http import AsyncClient, AsyncHttp, AsyncList
from ._decode import decode
from ._json import JsonText
from ._requests import (
    UNSET,
    OneOrMore,
    Time,
    Unset,
    batch_body,
    changed_time,
    chosen,
    in_zone,
    new_task,
    path,
    time_after,
)

`

/** Returns the synchronous form of asynchronous Python. */
export function synchronous(python: string): string {
  const replacements: Array<[RegExp, string]> = [
    [/^"""The asynchronous/, '"""The synchronous'],
    [/\basyncio\.sleep/g, 'time.sleep'],
    [/^import asyncio\nimport os\nimport re$/m, 'import os\nimport re\nimport time'],
    [/An asynchronous client/g, 'A client'],
    [/\basync (def|with|for)\b/g, '$1'],
    [/\bawait /g, ''],
    [/__a(iter|enter|exit)__/g, '__$1__'],
    [/\baclose\b/g, 'close'],
    [/\ba(read|iter_bytes|iter_text)\b/g, '$1'],
    [/\b(_?)Async([A-Z])/g, '$1$2'],
    [/_async_http/g, '_sync_http'],
  ]
  return replacements.reduce((text, [pattern, by]) => text.replace(pattern, by), python)
}

function methodLines(method: ClientMethod): string[] {
  const name = methodName(method.name)
  const { positional, keywords, target } = pathArguments(method)
  if (name === 'create_many') return batchLines(method)
  const body = bodyArguments(method)
  const query = method.query.map(field => {
    const type = field.schema.type === 'array' ? 'OneOrMore' : typeOf(field.schema, 'input')
    const name = argument[field.name] ?? field.name
    return { name, field, code: `${name}: ${type}${field.isRequired ? '' : ' | None = None'}` }
  })
  const isOpen = query.length > 0 || (method.body.length > 0 && !body.isChoice)
  const named = [...body.keywords, ...query.map(({ code }) => code), ...keywords, ...extraArguments(method)]
  const list = [
    ...['self', ...positional, ...body.positional],
    ...(named.length > 0 ? ['*', ...named] : []),
    ...(isOpen ? ['**more: Any'] : []),
  ]
  const filters = query.length > 0 ? ['**more', ...query.map(({ name, field }) => `"${field.name}": ${name}`)] : []
  const described = [
    ...method.body.map(field => ({ name: argument[field.name] ?? field.name, text: field.text })),
    ...query.map(({ name, field }) => ({ name, text: field.text })),
  ].filter(({ text }) => text !== '')
  const docs = docLines(method, described)
  const shape = shapeOf(method)
  const head = (prefix: string, result: string) => signature(`${prefix}def ${name}`, list, result)
  switch (method.kind) {
    case 'list': {
      const call = braces(`return AsyncList(self._http, ${target}, models.${shape}, {`, filters, '})')
      return [...head('', `AsyncList[models.${shape}]`), ...indent([...docs, ...call])]
    }
    case 'export':
      return [
        ...head('', 'AsyncIterator[bytes]'),
        ...indent([...docs, ...braces(`return self._http.stream(${target}, {`, filters, '})')]),
      ]
    case 'stream':
      return [
        ...head('', 'AsyncIterator[models.Run]'),
        ...indent([...docs, `return self._http.tail(${target}, models.Run, after)`]),
      ]
    case 'call': {
      const sent = method.body.length > 0 ? `, body=${body.code}` : ''
      const asked = filters.length > 0 ? ', query=query' : ''
      const call = method.isIdempotent
        ? `self._http.create(${target}, ${method.body.length > 0 ? body.code : 'None'}, idempotency_key)`
        : `self._http.send("${method.method}", ${target}${sent}${asked})`
      const lines = shape === null ? [`await ${call}`] : [`return decode(models.${shape}, await ${call})`]
      const before = [
        ...(filters.length > 0 ? braces('query = {', filters, '}') : []),
        ...(body.fields.length > 0 ? braces('fields = {', body.fields, '}') : []),
      ]
      const result = shape === null ? 'None' : `models.${shape}`
      return [...head('async ', result), ...indent([...docs, ...before, ...lines]), ...progressLines(method)]
    }
  }
}

// A bulk operation in the background can be followed.
function progressLines(method: ClientMethod): string[] {
  const shape = shapeOf(method)
  if (method.method !== 'GET' || !shape?.endsWith('Operation')) return []
  return [
    '',
    `async def progress(self, id: str, *, interval: float = 1) -> AsyncIterator[models.${shape}]:`,
    ...indent([
      doc("Yields each change of an operation's progress until it has ended. Asks every `interval` seconds."),
      'before = None',
      'while True:',
      `    now = await self.${methodName(method.name)}(id)`,
      '    if now != before:',
      '        yield now',
      '    if now.status != "running":',
      '        return',
      '    before = now',
      '    await self._http.sleep(interval)',
    ]),
  ]
}

function batchLines({ path, text }: ClientMethod): string[] {
  return [
    'async def create_many(',
    '    self, tasks: Sequence[Mapping[str, Any]], *, idempotency_key: str | None = None',
    ') -> Sequence[models.BatchResult]:',
    ...indent([
      ...wrap(text, '"""', '', maxLine),
      '',
      'Args:',
      '    tasks: The arguments of `create` for each task.',
      '"""',
      `answer = await self._http.create("${path}", batch_body(tasks), idempotency_key)`,
      'return [decode(models.BatchResult, result) for result in answer["data"]]',
    ]),
  ]
}

// The methods of a group are methods of its resource: `secrets.put` is `put_secret`, and `secrets.list` is `secrets`.
function methodName(name: string): string {
  const [group = '', verb] = name.split('.')
  if (verb === undefined || verb === 'list') return snake(group)
  const [first, ...rest] = snake(verb).split('_')
  const noun = verb === 'remove' ? snake(group) : snake(group).replace(/s$/, '')
  return [first, noun, ...rest].join('_')
}

function pathArguments({ parameters, path }: ClientMethod) {
  const template = path.replace(/:\w+/g, '{}')
  const isInWorkspace = parameters[0] === 'ws'
  const own = parameters.slice(isInWorkspace ? 1 : 0)
  const names = own.map((parameter, i) => {
    if (['name', 'queue', 'connection'].includes(parameter)) return 'name'
    return parameter === 'host' ? 'host' : i > 0 ? `${parameter}_id` : isInWorkspace ? `${parameter}_id` : 'id'
  })
  const all = isInWorkspace ? ['id', ...names] : names
  const target = all.length === 0 ? `"${path}"` : `path("${template}", ${all.join(', ')})`
  const workspace = 'id: str = "current"'
  const isFirst = isInWorkspace && own.length === 0
  return {
    positional: [...(isFirst ? [workspace] : []), ...names.map(name => `${name}: str`)],
    keywords: isInWorkspace && !isFirst ? [workspace] : [],
    target,
  }
}

function extraArguments({ kind, isIdempotent }: ClientMethod): string[] {
  if (kind === 'stream') return ['after: str | None = None']
  return isIdempotent ? ['idempotency_key: str | None = None'] : []
}

function bodyArguments({ body, method }: ClientMethod) {
  const names = body.map(({ name }) => name)
  if (names.includes('ids') && names.includes('filter')) return choiceArguments(body)
  const required = body.filter(({ isRequired }) => isRequired)
  // A new task or cron job has a default name and method.
  const isNew = ['name', 'url', 'method'].every(name => required.some(field => field.name === name))
  const hasTime = names.includes('execute_at')
  const plain = body.filter(({ name }) => !(isNew && ['name', 'url', 'method'].includes(name)))
  const positional = method === 'PUT' && required.length === 1 ? required : []
  const rest = plain.filter(field => !positional.includes(field) && field.name !== 'execute_at')
  const fields = plain.map(({ name }) => `"${name}": ${fieldCode(name, isNew)}`)
  return {
    isChoice: false,
    positional: positional.map(bodyArgument),
    keywords: [
      ...(isNew ? ['target_url: str'] : []),
      ...rest.filter(({ isRequired }) => isRequired).map(bodyArgument),
      ...(hasTime ? ['execute_at: Time | Unset = UNSET', 'delay: timedelta | str | Unset = UNSET'] : []),
      ...(isNew ? ['name: str | None = None', 'method: str = "POST"'] : []),
      ...rest.filter(({ isRequired }) => !isRequired).map(bodyArgument),
    ],
    fields: plain.length > 0 ? [...fields, '**more'] : [],
    code: isNew ? 'new_task(fields, target_url, method, name)' : hasTime ? 'in_zone(fields)' : 'fields',
  }
}

function choiceArguments(body: Field[]) {
  const others = body.filter(({ name }) => name !== 'ids' && name !== 'filter')
  const code = ({ name, schema, isRequired }: Field) =>
    `${name}: ${typeOf(schema, 'input')}${isRequired ? '' : ' | None = None'}`
  return {
    isChoice: true,
    positional: ['ids: Sequence[str] | None = None'],
    keywords: [
      ...others.filter(({ isRequired }) => isRequired).map(code),
      'filter: Mapping[str, Any] | None = None',
      ...others.filter(({ isRequired }) => !isRequired).map(code),
    ],
    fields: [],
    code: `chosen(ids, filter${others.map(({ name }) => `, ${name}=${name}`).join('')})`,
  }
}

function bodyArgument({ name, schema, isRequired }: Field): string {
  const type = name === 'payload' && isRequired ? 'Mapping[str, Any] | JsonText' : typeOf(schema, 'input')
  return `${argument[name] ?? name}: ${type}${isRequired ? '' : ' | Unset = UNSET'}`
}

function fieldCode(name: string, isNew: boolean): string {
  if (name === 'execute_at') return `${isNew ? 'time_after' : 'changed_time'}(delay, execute_at)`
  return name === 'method' ? 'method if isinstance(method, Unset) else method.upper()' : (argument[name] ?? name)
}

function braces(start: string, members: string[], end: string): string[] {
  const line = `${start}${members.join(', ')}${end}`
  return line.length <= maxLine ? [line] : [start, ...members.map(member => `    ${member},`), end]
}

const maxLine = 106

function signature(start: string, list: string[], result: string): string[] {
  const line = `${start}(${list.join(', ')}) -> ${result}:`
  return line.length <= maxLine ? [line] : [`${start}(`, ...list.map(one => `    ${one},`), `) -> ${result}:`]
}

function docLines({ text, conflicts }: ClientMethod, described: { name: string; text: string }[]): string[] {
  const raises = conflicts.map(code => `    ConflictError: \`${code}\`.`)
  const [first = '', ...others] = wrap(text, '"""', '', maxLine)
  if (described.length === 0 && raises.length === 0)
    return others.length === 0 ? [doc(text)] : [first, ...others, '"""']
  return [
    ...[first, ...others, ''],
    ...(described.length > 0
      ? ['Args:', ...described.flatMap(({ name, text }) => wrap(text, `    ${name}:`, '        ', maxLine))]
      : []),
    ...(raises.length > 0 ? [...(described.length > 0 ? [''] : []), 'Raises:', ...raises] : []),
    '"""',
  ]
}
