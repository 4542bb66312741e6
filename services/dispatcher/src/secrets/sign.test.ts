import { expect, it } from 'vitest'
import { sign, toSigningKey } from './sign.ts'

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
