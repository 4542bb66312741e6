import { newUuid } from '@belfry/domain/id'
import { expect, it } from 'vitest'
import { forgetExpired } from '../src/retention/forget-expired.ts'
import {
  readSigningSecrets,
  readSubscriptionSecrets,
  revokeSigningSecret,
  rotateSigningSecret,
} from '../src/secrets/signing-secrets.ts'
import { useDatabase } from './setup.ts'
import { addWorkspace, someMasterKeys } from './setup-secrets.ts'

const db = useDatabase()
const keys = someMasterKeys()

async function aSubscription() {
  const [workspaceId, subscriptionId] = [await addWorkspace(db.pool), newUuid()]
  await db.pool.query(
    `INSERT INTO subscriptions (id, workspace_id, topic, active, url, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms, updated_at)
     VALUES ($1, $2, 'orders', true, 'https://example.com/', 0, 'fixed', 1, 1, 1, now())`,
    [subscriptionId, workspaceId],
  )
  return { workspaceId, subscriptionId }
}

const read = async (id: string) => (await readSubscriptionSecrets(db.pool, keys, [id])).get(id) ?? []

it('the secrets of a subscription are not those of its workspace, and are stored encrypted', async () => {
  const owner = await aSubscription()
  const { workspaceId, subscriptionId } = owner
  const [first] = (await readSigningSecrets(db.pool, keys, [workspaceId])).get(workspaceId) ?? []
  const own = await rotateSigningSecret(db.pool, keys, owner)
  const again = await rotateSigningSecret(db.pool, keys, owner)
  expect(await read(subscriptionId)).toMatchObject([again, { ...(own as object), expiresAt: expect.any(Date) }])
  expect((await readSigningSecrets(db.pool, keys, [workspaceId])).get(workspaceId)).toEqual([first])
  const { rows } = await db.pool.query("SELECT encode(sealed_value, 'escape') AS text FROM subscription_secrets")
  for (const { value } of await read(subscriptionId)) expect(JSON.stringify(rows)).not.toContain(value.slice(6))
})

it('no workspace has access to the secrets of a subscription of another one', async () => {
  const owner = await aSubscription()
  const { workspaceId } = await aSubscription()
  const wrong = { ...owner, workspaceId }
  expect(await rotateSigningSecret(db.pool, keys, wrong)).toBeNull()
  await rotateSigningSecret(db.pool, keys, owner)
  await rotateSigningSecret(db.pool, keys, owner)
  const [, old] = await read(owner.subscriptionId)
  expect(await revokeSigningSecret(db.pool, wrong, old?.id ?? '')).toBe('unknown')
  expect(await revokeSigningSecret(db.pool, owner, old?.id ?? '')).toBe('revoked')
})

it('expired secrets of subscriptions do not sign, and are deleted', async () => {
  const owner = await aSubscription()
  await rotateSigningSecret(db.pool, keys, owner)
  await db.pool.query(
    `UPDATE subscription_secrets SET expires_at = now() - interval '1 ms' WHERE subscription_id = $1`,
    [owner.subscriptionId],
  )
  expect(await read(owner.subscriptionId)).toEqual([])
  await forgetExpired(db.pool)
  const text = 'SELECT FROM subscription_secrets WHERE subscription_id = $1'
  expect((await db.pool.query(text, [owner.subscriptionId])).rowCount).toBe(0)
})
