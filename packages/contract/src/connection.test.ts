import { expect, it } from 'vitest'
import { putConnectionBody } from './connection.ts'
import { parseInput } from './field-errors.ts'

const hosts = ['api.example.com']
const header = { kind: 'header', hosts, value: 'a value' }
const oauth2 = { kind: 'oauth2', hosts, token_url: 'https://id.example.com/token', client_id: 'belfry' }
const identity = { kind: 'identity_token', hosts, audience: 'https://api.example.com' }
const basic = { kind: 'basic', hosts, username: 'belfry' }
const pem = (length: number) => {
  const [before, after] = ['-----BEGIN CERTIFICATE-----\n', '\n-----END CERTIFICATE-----\n']
  return `${before}${'A'.repeat(length - before.length - after.length)}${after}`
}
const parametersOf = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`name${i}`, 'a']))

it.each([
  { ...header, value: 'x'.repeat(8_192) },
  { ...header, header: 'X'.repeat(100) },
  { ...header, hosts: Array(20).fill('api.example.com') },
  { ...header, ca_certificate: pem(32_768) },
  { ...basic, username: 'x'.repeat(200) },
  { ...oauth2, client_id: 'x'.repeat(500), scope: 'x'.repeat(1_000), parameters: parametersOf(10) },
  { ...oauth2, parameters: { ['x'.repeat(100)]: 'x'.repeat(2_000) } },
  { ...identity, audience: 'x'.repeat(500), lifetime_s: 60 },
  { ...identity, lifetime_s: 3_600 },
])('a connection may have as much as in example %#', body => {
  expect(parseInput(putConnectionBody, body)).toMatchObject({ ok: true, value: body })
})

const invalid: Array<readonly [path: string, body: Record<string, unknown>]> = [
  ['value', { ...header, value: 'x'.repeat(8_193) }],
  ['value', { ...header, value: 'abc' }],
  ['value', { ...header, value: 'a value\r\nX-Other: value' }],
  ['value', { ...header, value: 'value of {{ secrets.OTHER }} ä' }],
  ['header', { ...header, header: 'X'.repeat(101) }],
  ['header', { ...header, header: 'X Y' }],
  ...['Host', 'content-length', 'Transfer-Encoding', 'Webhook-Signature', 'X-Belfry-Depth', 'proxy-authorization'].map(
    name => ['header', { ...header, header: name }] as const,
  ),
  ['hosts', { ...header, hosts: [] }],
  ['hosts', { ...header, hosts: Array(21).fill('api.example.com') }],
  ['hosts.0', { ...header, hosts: ['https://api.example.com'] }],
  ['ca_certificate', { ...header, ca_certificate: pem(32_769) }],
  ['client_key', { ...header, client_key: 'no PEM' }],
  ['username', { ...basic, username: 'x'.repeat(201) }],
  ['username', { ...basic, username: 'a:b' }],
  ['token_url', { ...oauth2, token_url: 'ftp://id.example.com/token' }],
  ['token_url', { ...oauth2, token_url: 'https://{{ secrets.HOST }}/token' }],
  ['client_id', { ...oauth2, client_id: 'x'.repeat(501) }],
  ['scope', { ...oauth2, scope: 'x'.repeat(1_001) }],
  ['parameters', { ...oauth2, parameters: parametersOf(11) }],
  ['parameters', { ...oauth2, parameters: { client_secret: 'a' } }],
  ['parameters', { ...oauth2, parameters: { client_assertion_type: 'a' } }],
  ['audience', { ...identity, audience: 'x'.repeat(501) }],
  ['lifetime_s', { ...identity, lifetime_s: 59 }],
  ['lifetime_s', { ...identity, lifetime_s: 3_601 }],
  ['password', { ...header, password: 'of another kind' }],
]

it.each(invalid)('refuses an invalid %s, without repeating secrets (%#)', (path, body) => {
  const result = parseInput(putConnectionBody, body)
  expect(result).toMatchObject({ ok: false, errors: [{ path: expect.stringContaining(path) }] })
  if (body.value !== undefined) expect(JSON.stringify(result)).not.toContain(body.value)
})
