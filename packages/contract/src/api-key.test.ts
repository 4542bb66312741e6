import { expect, it } from 'vitest'
import { createApiKeyBody } from './api-key.ts'
import { parseInput } from './field-errors.ts'

it('an API key needs a name and can have an expiry', () => {
  expect(parseInput(createApiKeyBody, { name: 'CI' })).toEqual({ ok: true, value: { name: 'CI' } })
  expect(parseInput(createApiKeyBody, { name: 'CI', expires_at: null })).toMatchObject({ value: { expires_at: null } })
  expect(parseInput(createApiKeyBody, { name: 'CI', expires_at: '2027-01-01T00:00:00Z' })).toMatchObject({
    value: { expires_at: new Date('2027-01-01T00:00:00Z') },
  })
  expect(parseInput(createApiKeyBody, { expires_at: 'never' })).toMatchObject({
    errors: [
      { path: 'name', code: 'required' },
      { path: 'expires_at', code: 'invalid_timestamp' },
    ],
  })
})
