import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parseInput } from './field-errors.ts'
import { putSecretBody } from './secret.ts'
import { createTaskBody } from './task.ts'

const docs = readFileSync(new URL('../../../docs/secrets-and-signing.md', import.meta.url), 'utf8')

it('the task of the documentation is accepted', () => {
  const [, example = ''] = /```json\n(.*?)```/s.exec(docs) ?? []
  expect(example).toContain('{{ secrets.API_TOKEN }}')
  expect(parseInput(createTaskBody, JSON.parse(example))).toMatchObject({ ok: true })
})

describe('the value of a secret', () => {
  it.each(['1234', 'a b c d', '日本の秘', 'x'.repeat(8192), '-----BEGIN KEY-----\nabc\n'])('may be %j', value => {
    expect(parseInput(putSecretBody, { value })).toEqual({ ok: true, value: { value } })
  })

  it.each(['', '123', 'a  b  c', '        ', 'x'.repeat(8193), 1234, null])('may not be %j', value => {
    const result = parseInput(putSecretBody, { value })
    expect(result).toMatchObject({ ok: false, errors: [{ path: 'value' }] })
    if (String(value).length > 4) expect(JSON.stringify(result)).not.toContain(value)
  })
})
