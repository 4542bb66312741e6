import { expect, it } from 'vitest'
import { credentialsOf } from '../../src/connections/credentials.ts'
import { type ConnectionsContext, createCredentialRedactors } from '../../src/connections/open-connections.ts'
import { anOAuthConnection } from './an-oauth-connection.ts'

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

it.each([
  ['Bearer 3f1c9a7e5b2d', ['Bearer 3f1c9a7e5b2d', '3f1c9a7e5b2d']],
  ['Bearer  3f1c9a7e5b2d', ['Bearer  3f1c9a7e5b2d', '3f1c9a7e5b2d']],
  ['Digest username="a", response="b"', ['Digest username="a", response="b"', 'username="a", response="b"']],
  ['3f1c9a7e5b2d', ['3f1c9a7e5b2d']],
  ['Bearer abc', ['Bearer abc']],
])('hides of the header %j also what follows the scheme, unless it is short', async (value, hidden) => {
  const connection = anOAuthConnection({ kind: 'header', secrets: { value } })
  expect(await credentialsOf({} as ConnectionsContext, connection)).toMatchObject({ header: { value }, hidden })
})
