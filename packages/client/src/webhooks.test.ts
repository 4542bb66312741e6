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
    const verified = { id: 'task_1', timestamp: new Date(Number(headers['webhook-timestamp']) * 1000) }
    expect(await webhooks.verify(body, headers, secret)).toEqual(verified)
    expect(await webhooks.verify(new TextEncoder().encode(body), new Headers(headers), secret)).toEqual(verified)
  })

  it('headers in any case', async () => {
    const headers = Object.fromEntries(Object.entries(signed()).map(([name, value]) => [name.toUpperCase(), value]))
    expect(await webhooks.verify(body, headers, secret)).toMatchObject({ id: 'task_1' })
  })

  it('an empty body', async () => {
    expect(await webhooks.verify('', signed({ body: '' }), secret)).toMatchObject({ id: 'task_1' })
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

  it('a parsed body, as a mistake of the caller', async () => {
    const parsed = JSON.parse(body) as string // as `express.json()` leaves it
    await expect(webhooks.verify(parsed, signed(), secret)).rejects.toThrow(/already parsed/)
  })

  it('an invalid secret, as a mistake of the caller', async () => {
    await expect(webhooks.verify(body, signed(), 'bf_key')).rejects.toThrow(TypeError)
  })
})
