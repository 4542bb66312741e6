import { expect, it, onTestFinished } from 'vitest'
import { requestToken, TokenRequestError, UnsentTokenRequestError } from '../../src/connections/request-token.ts'
import type { SendOutcome } from '../../src/egress/outcome.ts'
import type { OutgoingRequest } from '../../src/egress/send.ts'
import { closeAll, senderFor, tcpServerFor } from '../egress/setup-sender.ts'
import { anOAuthConnection } from './an-oauth-connection.ts'

const day = 24 * 3_600_000

/** Requests a token from an endpoint with the given answer. */
async function request(body: unknown, { status = 200, bodyTruncated = false } = {}, connection = anOAuthConnection()) {
  const sent: OutgoingRequest[] = []
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const outcome = { kind: 'response', status, headers: {}, body: Buffer.from(text), bodyTruncated } as SendOutcome
  const send = async (one: OutgoingRequest) => {
    sent.push(one)
    return outcome
  }
  const token = await requestToken({ send }, connection)
  return { token, sent: sent[0] }
}

it('sends the credentials as HTTP Basic, encoded as in a form, or in the body', async () => {
  const connection = anOAuthConnection({ settings: { clientId: 'a:b', scope: 'read', parameters: { audience: 'x' } } })
  const { sent } = await request({ access_token: 'a-token' }, {}, connection)
  const [, encoded = ''] = String(sent?.headers.Authorization).split(' ')
  expect(Buffer.from(encoded, 'base64').toString()).toBe('a%3Ab:secret+of+the+client')
  expect(sent?.body).toBe('audience=x&grant_type=client_credentials&scope=read')
  const inBody = anOAuthConnection({ settings: { clientAuthentication: 'post' } })
  const { sent: second } = await request({ access_token: 'a-token' }, {}, inBody)
  expect(second?.headers.Authorization).toBeUndefined()
  expect(second?.body).toContain('client_secret=secret+of+the+client')
})

it.each([
  ['without expires_in', undefined, 300_000],
  ['with a negative one', -1, 300_000],
  ['with text', 'soon', 300_000],
  ['with a number as text', '60', 60_000],
  ['with 30 days', 30 * 86_400, 30 * day],
  ['with a year', 365 * 86_400, 30 * day],
])('a token %s lives for a limited time', async (_, expiresIn, lifetimeMs) => {
  const { token } = await request({ access_token: 'a-token', token_type: 'bearer', expires_in: expiresIn })
  expect(token).toEqual({ value: 'a-token', lifetimeMs })
})

it('a token has 4 to 8,000 visible characters', async () => {
  expect((await request({ access_token: 'x'.repeat(8_000) })).token.value).toHaveLength(8_000)
  for (const token of ['x'.repeat(8_001), 'abc', 'a token', 'a-token\r\nX-Other: a', 42, null])
    await expect(request({ access_token: token })).rejects.toThrow('answered 200 without a valid access_token.')
  await expect(request({ access_token: 'a-token' }, { bodyTruncated: true })).rejects.toThrow('valid access_token')
  await expect(request({ access_token: 'a-token', token_type: 'mac' })).rejects.toThrow('not a bearer token')
  await expect(request('[]')).rejects.toThrow('valid access_token')
})

it('an error has 200 characters of each reason at most, and never the secret', async () => {
  const answer = { error: 'x'.repeat(300), error_description: 'not secret of the client,\nnor secret+of+the+client.' }
  const error = await request(answer, { status: 400 }).catch(String)
  expect(error).toBe(`Error: The token endpoint answered 400 ${'x'.repeat(200)}: not ***, nor ***.`)
  await expect(request('<html>', { status: 302 })).rejects.toThrow('The token endpoint answered 302.')
})

it('a token endpoint that does not answer has ten seconds', async () => {
  onTestFinished(closeAll)
  const { port } = await tcpServerFor(() => {})
  const connection = anOAuthConnection({ settings: { tokenUrl: `http://127.0.0.1:${port}/token` } })
  const startedAt = performance.now()
  const error = await requestToken(senderFor().sender, connection).catch(String)
  const tookMs = performance.now() - startedAt
  expect(error).toBe('Error: No access token was issued. The token endpoint did not answer in time.')
  expect(tookMs).toBeGreaterThan(9_900)
}, 30_000)

it('a request that cannot be sent is no failure of the token endpoint', async () => {
  const message = 'The egress proxy could not be used (ECONNREFUSED).'
  const errorAfter = (outcome: SendOutcome) =>
    requestToken({ send: async () => outcome }, anOAuthConnection()).catch((error: unknown) => error)
  const unsent = await errorAfter({ kind: 'unsent', message })
  expect(unsent).toBeInstanceOf(UnsentTokenRequestError)
  expect(String(unsent)).toBe(`Error: No access token was issued. ${message}`)
  const failed = await errorAfter({ kind: 'failure', code: 'dns', message: 'The host name of the target is unknown.' })
  expect(failed).toBeInstanceOf(TokenRequestError)
  expect(failed).not.toBeInstanceOf(UnsentTokenRequestError)
})

it('a fault shows no credentials', async () => {
  const send = async ({ headers, body }: OutgoingRequest) => {
    throw new Error(`cannot send ${JSON.stringify(headers)} ${body} secret of the client`)
  }
  for (const clientAuthentication of ['basic', 'post'] as const) {
    const connection = anOAuthConnection({ settings: { clientAuthentication } })
    const fault: Error = await requestToken({ send }, connection).catch(error => error)
    expect(fault.stack).toContain('cannot send')
    expect(fault.stack).not.toMatch(/secret.of|YmVsZnJ5/)
  }
})
