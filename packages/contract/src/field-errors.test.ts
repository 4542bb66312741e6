import { cpuTimeOf } from '@belfry/test-support/cpu-time'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parseInput } from './field-errors.ts'
import { integer, repeatable, textField } from './fields.ts'
import { line, oneOf } from './text-rules.ts'

const schema = z.strictObject({
  first_name: textField(line(5)),
  colour: z.enum(['red', 'blue']),
  count: integer(1, 10).default(3),
  on: z.boolean().optional(),
  inner: z.strictObject({ deep_name: textField(line(5)) }).optional(),
  list: z.array(z.strictObject({ title: textField(line(5)) })).optional(),
  retry: z.strictObject({ max_times: integer(1, 3).default(2) }).prefault({}),
  filter: repeatable(oneOf(['a', 'b'])).optional(),
  shape: z
    .discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('dot') }),
      z.strictObject({ kind: z.literal('box'), side: z.int() }),
    ])
    .optional(),
})

const good = { first_name: 'Ada', colour: 'red' }

function errorsOf(value: unknown) {
  const result = parseInput(schema, value)
  return result.ok ? [] : result.errors
}

describe('parseInput', () => {
  it('returns the value with defaults applied', () => {
    expect(parseInput(schema, good)).toEqual({ ok: true, value: { ...good, count: 3, retry: { max_times: 2 } } })
  })

  it('asks for the discriminator of a union', () => {
    expect(errorsOf({ ...good, shape: {} })).toEqual([
      { path: 'shape.kind', code: 'required', message: 'shape.kind is required.' },
    ])
    expect(errorsOf({ ...good, shape: { kind: 'ball' } })).toEqual([
      { path: 'shape.kind', code: 'invalid_value', message: 'shape.kind must be one of dot, box.' },
    ])
  })

  it('reports every invalid field at once', () => {
    const value = {
      firstName: 'x',
      colour: 'green',
      count: 0,
      inner: { deepName: 1 },
      list: [{ title: '' }],
      filter: 'c',
    }
    expect(errorsOf(value)).toEqual([
      { path: 'first_name', code: 'required', message: 'first_name is required.' },
      { path: 'colour', code: 'invalid_value', message: 'colour must be one of red, blue.' },
      { path: 'count', code: 'out_of_range', message: 'count must be at least 1.' },
      { path: 'inner.deep_name', code: 'required', message: 'inner.deep_name is required.' },
      {
        path: 'inner.deepName',
        code: 'unknown_field',
        message: '"deepName" is not a known field. Did you mean "deep_name"?',
      },
      { path: 'list.0.title', code: 'too_short', message: 'list.0.title must not be empty.' },
      { path: 'filter', code: 'invalid_value', message: 'filter must be one of a, b.' },
      {
        path: 'firstName',
        code: 'unknown_field',
        message: '"firstName" is not a known field. Did you mean "first_name"?',
      },
    ])
  })

  it.each([
    ['first_name', 1, 'first_name must be a string.'],
    ['first_name', null, 'first_name must be a string.'],
    ['first_name', ['Ada', 'Bob'], 'first_name must be a single value, not a list.'],
    ['first_name', { not: '' }, 'first_name must be a string.'],
    ['count', '3', 'count must be a whole number.'],
    ['count', 1.5, 'count must be a whole number.'],
    ['count', Number.POSITIVE_INFINITY, 'count must be a whole number.'],
    ['on', 'true', 'on must be a boolean.'],
    ['inner', [], 'inner must be an object.'],
    ['list', {}, 'list must be a list.'],
  ])('reports the type that %s must have when it is %j', (field, value, message) => {
    expect(errorsOf({ ...good, [field]: value })).toEqual([{ path: field, code: 'invalid_type', message }])
  })

  it.each([null, [], 'x', 1, true])('refuses %j for an object', value => {
    expect(errorsOf(value)).toEqual([{ path: '', code: 'invalid_type', message: 'The input must be an object.' }])
  })

  it('reports the first error of each field', () => {
    const name = z.strictObject({ name: z.string().min(5).startsWith('x') })
    expect(parseInput(name, { name: 'a' })).toMatchObject({ errors: [{ path: 'name', code: 'out_of_range' }] })
  })

  it('suggests field names of objects in lists and of objects with defaults', () => {
    expect(errorsOf({ ...good, list: [{ title: 'a' }, { titel: 'b' }] })).toMatchObject([
      { path: 'list.1.title', code: 'required' },
      { path: 'list.1.titel', message: '"titel" is not a known field. Did you mean "title"?' },
    ])
    expect(errorsOf({ ...good, retry: { maxTimes: 1 } })).toMatchObject([
      { path: 'retry.maxTimes', message: '"maxTimes" is not a known field. Did you mean "max_times"?' },
    ])
  })

  it('suggests a field that other programs call differently, if there is one', () => {
    expect(errorsOf({ ...good, retries: 3, body: {}, constructor: 1 }).map(({ message }) => message)).toEqual([
      '"retries" is not a known field. Did you mean "retry"?',
      '"body" is not a known field.',
      '"constructor" is not a known field.',
    ])
  })

  it('refuses __proto__ and inherited names like any unknown field', () => {
    const value = { ...good, ...JSON.parse('{"constructor":1}') }
    Object.defineProperty(value, '__proto__', { value: { on: true }, enumerable: true })
    expect(errorsOf(value).map(({ path, code }) => [path, code])).toEqual([
      ['constructor', 'unknown_field'],
      ['__proto__', 'unknown_field'],
    ])
  })

  it('reports the first hundred of ten thousand unknown fields', () => {
    const value = Object.fromEntries(Array.from({ length: 10_000 }, (_, i) => [`field_${'x'.repeat(16)}${i}`, i]))
    const report = () => expect(errorsOf({ ...good, ...value })).toHaveLength(100)
    expect(cpuTimeOf(report)).toBeLessThan(1_000)
  })

  it('truncates a long name', () => {
    const [error] = errorsOf({ ...good, ['x'.repeat(100_000)]: 1 })
    expect(error?.path).toBe(`${'x'.repeat(100)}...`)
    expect(error?.message.length).toBeLessThan(200)
  })
})
