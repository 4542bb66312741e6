import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import {
  ensureSigningSecret,
  maxSigningSecrets,
  readSigningSecrets,
  revokeSigningSecret,
  rotateSigningSecret,
} from '../src/secrets/signing-secrets.ts'
import { useDatabase } from './setup.ts'
import { addWorkspace, someMasterKeys } from './setup-secrets.ts'

const db = useDatabase()
const keys = someMasterKeys()

const secretsOf = async (workspaceId: string) =>
  (await readSigningSecrets(db.pool, keys, [workspaceId])).get(workspaceId) ?? []

describe('works', () => {
  it('creates the first secret of a workspace once, with concurrent callers', async () => {
    const workspaceId = await addWorkspace(db.pool)
    const asked = await Promise.all([
      ...Array.from({ length: 8 }, () => secretsOf(workspaceId)),
      ...Array.from({ length: 8 }, () => ensureSigningSecret(db.pool, keys, workspaceId)),
    ])
    const values = new Set(asked.flatMap(secrets => secrets ?? []).map(({ value }) => value))
    expect(values.size).toBe(1)
    const [value = ''] = values
    expect(value).toMatch(/^whsec_/)
    expect(Buffer.from(value.slice(6), 'base64').length).toBeGreaterThanOrEqual(24)
    const { rows } = await db.pool.query("SELECT encode(sealed_value, 'escape') AS text FROM signing_secrets")
    expect(JSON.stringify(rows)).not.toContain(value.slice(6))
  })

  it('keeps a replaced secret for 24 hours, after the new one', async () => {
    const workspaceId = await addWorkspace(db.pool)
    const [old] = await secretsOf(workspaceId)
    const rotated = await rotateSigningSecret(db.pool, keys, { workspaceId })
    const both = await secretsOf(workspaceId)
    expect(both.map(({ value }) => value)).toEqual([(rotated as { value: string }).value, old?.value])
    const left = (both[1]?.expiresAt?.getTime() ?? 0) - (both[0]?.createdAt.getTime() ?? 0)
    expect(left).toBe(24 * 3_600_000)
    await db.pool.query(
      "UPDATE signing_secrets SET expires_at = now() - interval '1 second' WHERE expires_at IS NOT NULL",
    )
    expect((await secretsOf(workspaceId)).map(({ id }) => id)).toEqual([both[0]?.id])
  })

  it('keeps exactly one current secret when many rotate at once', async () => {
    const workspaceId = await addWorkspace(db.pool)
    await ensureSigningSecret(db.pool, keys, workspaceId)
    const rotations = await Promise.all(
      Array.from({ length: 8 }, () => rotateSigningSecret(db.pool, keys, { workspaceId })),
    )
    expect(rotations.filter(rotation => rotation === 'full')).toHaveLength(8 - (maxSigningSecrets - 1))
    const all = await secretsOf(workspaceId)
    expect(all).toHaveLength(maxSigningSecrets)
    expect(all.map(({ expiresAt }) => expiresAt === null)).toEqual([true, false, false, false, false])
  })
})

describe('refuses', () => {
  it('to revoke the current secret; a replaced one ends at once', async () => {
    const workspaceId = await addWorkspace(db.pool)
    const [old] = await secretsOf(workspaceId)
    expect(await revokeSigningSecret(db.pool, { workspaceId }, old!.id)).toBe('current')
    await rotateSigningSecret(db.pool, keys, { workspaceId })
    expect(await revokeSigningSecret(db.pool, { workspaceId }, old!.id)).toBe('revoked')
    expect(await revokeSigningSecret(db.pool, { workspaceId }, old!.id)).toBe('unknown')
    expect(await secretsOf(workspaceId)).toHaveLength(1)
  })

  it('a workspace that does not exist', async () => {
    const unknownWorkspaceId = randomUUID()
    expect((await readSigningSecrets(db.pool, keys, [unknownWorkspaceId])).has(unknownWorkspaceId)).toBe(false)
    expect(await rotateSigningSecret(db.pool, keys, { workspaceId: unknownWorkspaceId })).toBeNull()
  })
})

describe('permits', () => {
  it('no access to the secrets of another workspace', async () => {
    const [one, two] = [await addWorkspace(db.pool), await addWorkspace(db.pool)]
    const [old] = await secretsOf(one)
    await rotateSigningSecret(db.pool, keys, { workspaceId: one })
    expect(await revokeSigningSecret(db.pool, { workspaceId: two }, old!.id)).toBe('unknown')
    expect(await secretsOf(one)).toHaveLength(2)
  })
})
