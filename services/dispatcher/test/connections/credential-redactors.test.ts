import { expect, it } from 'vitest'
import { createCredentialRedactors } from '../../src/connections/credential-redactors.ts'

it('calls with the same credentials share a redactor, up to 100,000 characters in all', async () => {
  const redactors = createCredentialRedactors()
  const reference = '{{ connections.a }}'
  const first = redactors.get(['a token', 'another'], reference)
  expect(await first.text('a token and another')).toBe(`${reference} and ${reference}`)
  expect(redactors.get(['a token', 'another'], reference)).toBe(first)
  expect(redactors.get(['a token', 'another'], '{{ connections.b }}')).not.toBe(first)
  const many = Array.from({ length: 20 }, (_, i) => [`${i} `.repeat(2_000)])
  for (const hidden of many) redactors.get(hidden, reference)
  expect(redactors.get(['a token', 'another'], reference)).not.toBe(first)
})
