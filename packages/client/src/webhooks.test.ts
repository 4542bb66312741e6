import { generateKeyPairSync } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it } from 'vitest'
import { WebhookVerificationError, webhooks } from './webhooks.ts'

const secret = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
const older = `whsec_${Buffer.alloc(32, 9).toString('base64')}`
const body = '{"größe":12345678901234567890}'

// Signed by the reference library of Standard Webhooks.
function signed(options: { secret?: string; at?: Date; body?: string } = {}): Record<string, string> {
  const at = options.at ?? new Date()
  const signature = new Webhook(options.secret ?? secret).sign('task_1', at, options.body ?? body)
  return {
    'webhook-id': 'task_1',
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': signature,
  }
}
const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000)

describe('accepts', () => {
  it('a request signed by the reference library, as text and as bytes, with plain headers and with Headers', async () => {
    const headers = signed()
    const timestamp = new Date(Number(headers['webhook-timestamp']) * 1000)
    const verified = { id: 'task_1', timestamp, payload: JSON.parse(body) }
    expect(await webhooks.verify(body, headers, secret)).toEqual(verified)
    expect(await webhooks.verify(new TextEncoder().encode(body), new Headers(headers), secret)).toEqual(verified)
  })

  it('headers in any case', async () => {
    const headers = Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), value]))
    expect(await webhooks.verify(body, headers, secret)).toMatchObject({ id: 'task_1' })
  })

  it.each([
    ['no body', '', undefined, undefined],
    ['null', 'null', 'application/json', null],
    ['an object', '{"a":[1]}', 'application/problem+json; charset=utf-8', { a: [1] }],
    ['text', 'Grüße', 'text/plain; charset=utf-8', 'Grüße'],
    ['text that looks like JSON', '{"a":1}', 'text/plain', '{"a":1}'],
    ['text in a task that claims JSON', '{oops', 'application/json', '{oops'],
  ])('%s, and returns the payload', async (_, text, type, payload) => {
    const headers = { ...signed({ body: text }), ...(type ? { 'Content-Type': type } : {}) }
    const verified = { id: 'task_1', payload }
    expect(await webhooks.verify(text, headers, secret)).toMatchObject(verified)
    expect(await webhooks.verify(Buffer.from(text), new Headers(headers), secret)).toMatchObject(verified)
  })

  it('what `sign` signed, as the reference library does', async () => {
    const headers = await webhooks.sign(body, secret, { id: 'task_7' })
    expect(await webhooks.verify(body, headers, secret)).toMatchObject({ id: 'task_7' })
    expect(() => new Webhook(secret).verify(body, headers)).not.toThrow()
    expect(() => new Webhook(older).verify(body, headers)).toThrow()
  })

  it('an Ed25519 signature by the public key, beside the signature of a secret', async () => {
    const pair = generateKeyPairSync('ed25519').privateKey.export({ format: 'jwk' })
    const bytes = (text = '') => Buffer.from(text, 'base64url')
    const publicKey = `whpk_${bytes(pair.x).toString('base64')}`
    const asymmetric = await webhooks.sign(body, `whsk_${bytes(pair.d).toString('base64')}`)
    expect(asymmetric['webhook-signature']).toMatch(/^v1a,/)
    const seconds = Number(asymmetric['webhook-timestamp'])
    const shared = await webhooks.sign(body, secret, { timestamp: new Date(seconds * 1000) })
    const both = `${shared['webhook-signature']} ${asymmetric['webhook-signature']}`
    const headers = { ...asymmetric, 'webhook-signature': both }
    for (const key of [secret, publicKey])
      expect(await webhooks.verify(body, headers, key)).toMatchObject({ id: 'task_test' })
    await expect(webhooks.verify(`${body} `, headers, publicKey)).rejects.toThrow(WebhookVerificationError)
    await expect(webhooks.verify(body, shared, publicKey)).rejects.toThrow(WebhookVerificationError)
    await expect(webhooks.verify(body, asymmetric, secret)).rejects.toThrow(WebhookVerificationError)
    // A signature of the other kind with the same bytes does not count.
    const confused = { ...asymmetric, 'webhook-signature': asymmetric['webhook-signature'].replace('v1a,', 'v1,') }
    await expect(webhooks.verify(body, confused, publicKey)).rejects.toThrow(WebhookVerificationError)
  })

  it('a rotation: two signatures in the request, or two secrets here', async () => {
    const both = {
      ...signed(),
      'webhook-signature': `${signed({ secret: older })['webhook-signature']} ${signed()['webhook-signature']}`,
    }
    expect(await webhooks.verify(body, both, secret)).toMatchObject({ id: 'task_1' })
    expect(await webhooks.verify(body, both, older)).toMatchObject({ id: 'task_1' })
    expect(await webhooks.verify(body, signed({ secret: older }), [secret, older])).toMatchObject({ id: 'task_1' })
  })

  it('a slightly wrong clock', async () => {
    expect(await webhooks.verify(body, signed({ at: minutesAgo(4) }), secret)).toMatchObject({ id: 'task_1' })
    expect(await webhooks.verify(body, signed({ at: minutesAgo(-4) }), secret)).toMatchObject({ id: 'task_1' })
  })
})

describe('refuses', () => {
  it.each([
    ['another body', `${body} `, signed(), secret],
    ['another secret', body, signed(), older],
    ['another id', body, { ...signed(), 'webhook-id': 'task_2' }, secret],
    ['an old request', body, signed({ at: minutesAgo(6) }), secret],
    ['a request from the future', body, signed({ at: minutesAgo(-6) }), secret],
    ['an invalid time', body, { ...signed(), 'webhook-timestamp': 'NaN' }, secret],
    [
      'another version of signature',
      body,
      { ...signed(), 'webhook-signature': signed()['webhook-signature']?.replace('v1,', 'v9,') },
      secret,
    ],
    ['a signature that is not base64', body, { ...signed(), 'webhook-signature': 'v1,%%%' }, secret],
    ['a request without a signature', body, { ...signed(), 'webhook-signature': undefined }, secret],
  ])('%s', async (_, text, headers, key) => {
    await expect(webhooks.verify(text, headers, key)).rejects.toThrow(WebhookVerificationError)
  })

  it.each([
    ['an ArrayBuffer', (bytes: Uint8Array<ArrayBuffer>) => bytes.slice().buffer],
    [
      'a DataView of a part',
      (bytes: Uint8Array<ArrayBuffer>) => {
        const longer = new Uint8Array(bytes.length + 2)
        longer.set(bytes, 1)
        return new DataView(longer.buffer, 1, bytes.length)
      },
    ],
  ])('accepts %s', async (_, of) => {
    const bytes = Uint8Array.from(new TextEncoder().encode(body))
    expect(await webhooks.verify(of(bytes), signed(), secret)).toMatchObject({ payload: JSON.parse(body) })
  })

  it('a parsed body, as a mistake of the caller', async () => {
    const parsed = JSON.parse(body) as string // as `express.json()` leaves it
    await expect(webhooks.verify(parsed, signed(), secret)).rejects.toThrow(/already parsed/)
    const none = undefined as unknown as string
    await expect(webhooks.verify(none, signed(), secret)).rejects.toThrow(/no body was given/)
  })

  it('an invalid secret, as a mistake of the caller', async () => {
    await expect(webhooks.verify(body, signed(), 'bf_key')).rejects.toThrow(/whsec_ followed by base64/)
  })

  it.each([[undefined], [''], [[]], [['']]])('the missing secret %j, with the way to set it', async missing => {
    const refused = webhooks.verify(body, signed(), missing)
    await expect(refused).rejects.toThrow(/Set BELFRY_SIGNING_SECRET/)
    await expect(refused).rejects.toThrow(TypeError)
  })
})
