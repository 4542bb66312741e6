import { createPublicKey, verify } from 'node:crypto'
import { privateKeyOf } from '@belfry/vault'
import { expect, it } from 'vitest'
import { sign, toSigningKey, toSigningKeys } from './sign.ts'

// The example that libraries for Standard Webhooks are tested with.
const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const [id, timestamp, body] = ['msg_p5jXN8AQM9LWM0D4loKWxJek', '1614265330', '{"test": 2432232314}']
const signature = 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE='

it('signs as Standard Webhooks does, once for each key, in their order', () => {
  const other = toSigningKey(`whsec_${Buffer.alloc(32, 1).toString('base64')}`)
  expect(sign([toSigningKey(secret)], id, timestamp, body)).toBe(signature)
  const both = sign([other, toSigningKey(secret)], id, timestamp, body).split(' ')
  expect(both).toEqual([expect.stringMatching(/^v1,/), signature])
})

it('signs with Ed25519 too for the secrets that say so, after all shared secrets', () => {
  const one = { id: 'one', workspaceId: 'ws', value: secret, createdAt: new Date(), expiresAt: null }
  const [seed, other] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
  const of = (isAsymmetric: boolean) =>
    sign(
      toSigningKeys([
        { ...one, seed, isAsymmetric },
        { ...one, seed: other, isAsymmetric },
      ]),
      id,
      timestamp,
      body,
    ).split(' ')
  expect(of(false)).toEqual([signature, signature])
  const [, , ...pairs] = of(true)
  const signed = Buffer.from(`${id}.${timestamp}.${body}`)
  const isValid = ([seed, text]: readonly [Buffer, string | undefined]) =>
    verify(null, signed, createPublicKey(privateKeyOf(seed)), Buffer.from(text?.replace('v1a,', '') ?? '', 'base64'))
  expect(pairs).toHaveLength(2)
  expect([isValid([seed, pairs[0]]), isValid([other, pairs[1]]), isValid([other, pairs[0]])]).toEqual([
    true,
    true,
    false,
  ])
})
