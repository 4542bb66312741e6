import type { FieldError } from '@belfry/domain/app-error'
import { nearestName } from '@belfry/domain/nearest-name'
import { z } from 'zod'

// Names that other schedulers and HTTP clients have for fields.
const otherNames: Readonly<Record<string, string>> = {
  ...{ body: 'payload', data: 'payload', json: 'payload', message: 'payload' },
  ...{ schedule: 'cron', expression: 'cron', retries: 'retry', attempts: 'retry', page: 'cursor', offset: 'cursor' },
  ...{ at: 'execute_at', scheduled_for: 'execute_at', not_before: 'execute_at', destination: 'url', endpoint: 'url' },
}

export type ParsedInput<T> = { ok: true; value: T } | { ok: false; errors: FieldError[] }

// A body can have ten thousand errors; the first ones are enough.
const maxErrors = 100
const maxShownName = 100

/** Parses the input of a caller, or returns an error for every invalid field, each once. */
export function parseInput<T>(schema: z.ZodType<T>, value: unknown): ParsedInput<T> {
  const valid = schema.safeParse(value)
  if (valid.success) return { ok: true, value: valid.data }
  // Parsed again with messages: to copy the options takes as long as to parse a small body.
  const { error } = schema.safeParse(value, { error: messageOf, reportInput: true })
  const byPath = new Map<string, FieldError>()
  for (const found of error?.issues.flatMap(issue => toFieldErrors(issue, schema)) ?? []) {
    if (!byPath.has(found.path)) byPath.set(found.path, found)
  }
  return { ok: false, errors: [...byPath.values()].slice(0, maxErrors) }
}

function toFieldErrors(issue: z.core.$ZodIssue, schema: z.ZodType): FieldError[] {
  if (issue.code !== 'unrecognized_keys') {
    return [{ path: pathOf(issue.path), code: codeOf(issue), message: issue.message }]
  }
  const known = knownNames(schema, issue.path)
  return issue.keys.slice(0, maxErrors).map(key => {
    const near = nearestName(key, known) ?? known.find(name => name === otherNames[key.toLowerCase()]) ?? null
    const hint = near === null ? '' : ` Did you mean "${near}"?`
    const path = pathOf([...issue.path, key])
    return { path, code: 'unknown_field', message: `"${shorten(key)}" is not a known field.${hint}` }
  })
}

function codeOf(issue: z.core.$ZodIssue): string {
  if (inputOf(issue) === undefined) return 'required'
  switch (issue.code) {
    case 'custom':
      return String(issue.params?.code ?? 'invalid_value')
    case 'invalid_type':
      return 'invalid_type'
    case 'invalid_union':
      return isOfChoice(issue) ? 'invalid_value' : 'invalid_type'
    case 'too_big':
    case 'too_small':
      return 'out_of_range'
    default:
      return 'invalid_value'
  }
}

// Only for issues without a message.
function messageOf(issue: z.core.$ZodRawIssue): string {
  const field = pathOf(issue.path ?? []) || 'The input'
  if (inputOf(issue) === undefined) return `${field} is required.`
  switch (issue.code) {
    case 'custom':
      return `${field} must ${issue.params?.must ?? 'be valid'}.`
    case 'invalid_type':
      return `${field} must be ${nameOf(issue)}.`
    case 'too_big':
      return `${field} must be at most ${issue.maximum}.`
    case 'too_small':
      return `${field} must be at least ${issue.minimum}.`
    case 'invalid_value':
      return `${field} must be one of ${issue.values?.join(', ')}.`
    case 'invalid_union':
      return isOfChoice(issue) ? `${field} must be one of ${issue.options.join(', ')}.` : `${field} is not valid.`
    default:
      return `${field} is not valid.`
  }
}

type Choice = { discriminator: string; options: unknown[] }

// An unknown value of a union's discriminator. The issue's path is that field, its input the whole object.
function isOfChoice<Issue extends object>(issue: Issue): issue is Issue & Choice {
  return 'discriminator' in issue
}

function inputOf(issue: { input?: unknown }): unknown {
  return isOfChoice(issue) ? Object(issue.input)[issue.discriminator] : issue.input
}

function nameOf({ expected, input }: z.core.$ZodRawIssue): string {
  if (expected === 'object') return 'an object'
  if (expected === 'array') return 'a list'
  if (Array.isArray(input)) return 'a single value, not a list'
  return expected === 'int' || expected === 'number' ? 'a whole number' : `a ${expected}`
}

function pathOf(path: readonly PropertyKey[]): string {
  return path.map(key => shorten(String(key))).join('.')
}

function shorten(name: string): string {
  return name.length > maxShownName ? `${name.slice(0, maxShownName)}...` : name
}

// Returns the field names of the object at this path.
function knownNames(schema: z.core.$ZodType, path: readonly PropertyKey[]): string[] {
  let node = unwrap(schema)
  for (const key of path) node = unwrap(node instanceof z.ZodArray ? node.element : shapeOf(node)[String(key)])
  return Object.keys(shapeOf(node))
}

function unwrap(schema: z.core.$ZodType | undefined): z.core.$ZodType | undefined {
  if (schema instanceof z.ZodPipe) return unwrap(schema.in)
  const isWrapper = schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodPrefault
  return isWrapper ? unwrap(schema.unwrap()) : schema
}

function shapeOf(schema: z.core.$ZodType | undefined): Readonly<Record<string, z.core.$ZodType>> {
  return schema instanceof z.ZodObject ? schema.shape : {}
}
