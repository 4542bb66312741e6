import { expect, it } from 'vitest'
import { compile } from './compile.ts'
import { parseInput } from './field-errors.ts'
import { operations } from './operations.ts'

const bodies = Object.entries(operations).flatMap(([name, operation]) =>
  'body' in operation ? [[name, operation.body] as const] : [],
)

it.each(bodies)('valid bodies of %s are parsed by a generated function', (_, schema) => {
  expect(compile(schema)).not.toBe(schema)
})

it('a compiled schema reports the errors that the schema reports, also those of several members', () => {
  const schema = operations.createTask.body
  const wrong = {
    name: '',
    payload: 1,
    payload_base64: 'AA==',
    retry: { delays_ms: [1], backoff: 'fixed' },
    timezone: 'UTC',
  }
  const { errors } = { errors: [], ...parseInput(compile(schema), wrong) }
  expect(parseInput(schema, wrong)).toEqual({ ok: false, errors })
  expect(errors.map(({ path }) => path)).toEqual(
    expect.arrayContaining(['name', 'url', 'payload_base64', 'retry.delays_ms', 'timezone']),
  )
})
