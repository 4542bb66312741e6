import type { IncomingHttpHeaders } from 'node:http'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'
import type { FuzzRequest } from './generate-request.ts'
import type { Schema } from './generate-value.ts'

export type FuzzAnswer = { status: number; headers: IncomingHttpHeaders; text: string }

/** Returns the error in a response; null when there is none. */
export type AnswerCheck = (request: FuzzRequest, answer: FuzzAnswer) => string | null

/** Checks responses against an OpenAPI document. */
export function createAnswerCheck(document: Schema): AnswerCheck {
  const isValid = createValidator(document)
  return (request, answer) => {
    const { status, headers } = answer
    if (status >= 500) return `a status of ${status}`
    if (!headers['x-request-id']) return 'no X-Request-Id'
    if (request.operation === null)
      return status === 404 || status === 405 ? null : 'an answer where there is no operation'
    const { description } = request.operation
    if (!request.authenticated && description.security.length > 0 && status !== 401)
      return 'an answer without authentication'
    if (status < 300 && request.badQuery) return 'an unknown parameter accepted'
    const schema = description.requestBody?.content['application/json'].schema
    if (status < 300 && schema && !isValid(schema, parse(request.body || '{}'), 'input'))
      return 'an invalid body accepted'
    const documented = description.responses[status]
    if (!documented) return `the status ${status}, which is not documented`
    return checkContent(documented, answer, isValid)
  }
}

type Validate = (schema: Schema, value: unknown, io: 'input' | 'output') => boolean

function checkContent(documented: Schema, { headers, text }: FuzzAnswer, isValid: Validate): string | null {
  const type = headers['content-type']?.replace(/;.*/, '')
  if (!documented.content) return text === '' ? null : 'a body where none is documented'
  const content = type && documented.content[type]
  if (!content) return `the content type ${type}, which is not documented`
  if (!/[/+]json$/.test(type)) return null
  const body = parse(text)
  if (!isValid(content.schema, body, 'output')) return 'a body that does not match its schema'
  const { code } = Object(body)
  const isProblem = type === 'application/problem+json'
  return isProblem && !documented.description.includes(`\`${code}\``)
    ? `the code ${code}, which is not documented`
    : null
}

function createValidator(document: Schema): Validate {
  const ajv = new Ajv2020({ strict: false, validateFormats: true })
  formats.default(ajv)
  ajv.addSchema({ $id: 'input', components: document.components })
  ajv.addSchema({ $id: 'output', components: closed(document.components) })
  const compiled = { input: new Map<Schema, ValidateFunction>(), output: new Map<Schema, ValidateFunction>() }
  return (schema, value, io) => {
    let validate = compiled[io].get(schema)
    if (!validate) {
      const own = io === 'output' ? closed(schema) : schema
      validate = ajv.compile(JSON.parse(JSON.stringify(own).replaceAll('"#/components', `"${io}#/components`)))
      compiled[io].set(schema, validate)
    }
    return validate(value) === true
  }
}

// The API may add members to responses, but an undocumented member is a leak.
function closed(schema: Schema): Schema {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const members = Object.fromEntries(Object.entries(schema).map(([name, member]) => [name, closed(member)]))
  const isOpen = 'additionalProperties' in schema || schema.type !== 'object' || !schema.properties
  return isOpen ? members : { ...members, additionalProperties: false }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // not JSON, which no schema describes
  }
}
