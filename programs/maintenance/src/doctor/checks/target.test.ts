import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { checkTarget } from './target.ts'

it('refuses a blocked range, as the dispatcher does, though it is allowed', async () => {
  const env = {
    DATABASE_URL: 'postgresql://127.0.0.1:1/belfry',
    ENCRYPTION_KEYS: `k1:${randomBytes(32).toString('base64')}`,
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
  }
  const target = 'http://127.0.0.1:9/hook'
  const [called] = await checkTarget(target, env)
  expect(called?.message).toMatch(/fails with connection_refused/)
  const [blocked] = await checkTarget(target, { ...env, BLOCKED_TARGETS: '127.0.0.1/32' })
  expect(blocked?.message).toMatch(/fails with blocked_address/)
})
