import { randomUUID } from 'node:crypto'
import { parseMasterKeys } from '@belfry/vault'
import { describe, expect, it } from 'vitest'
import { findMasterKeyProblem, UnreadableSecretError } from '../src/secrets/data-keys.ts'
import { deleteSecret, listSecrets, putSecret, readSecrets } from '../src/secrets/secrets.ts'
import { readSigningSecrets } from '../src/secrets/signing-secrets.ts'
import { useDatabase } from './setup.ts'
import { addWorkspace, aMasterKey, someMasterKeys } from './setup-secrets.ts'

const db = useDatabase()
const keys = someMasterKeys()

async function valuesOf(workspaceId: string): Promise<Record<string, unknown>> {
  const secrets = (await readSecrets(db.pool, keys, [workspaceId])).get(workspaceId)?.byName ?? new Map()
  return Object.fromEntries(
    [...secrets].map(([name, secret]) => [name, secret instanceof Error ? secret : secret.value]),
  )
}

describe('works', () => {
  it('stores, changes, lists and deletes secrets, and no plain value is in the database', async () => {
    const workspaceId = await addWorkspace(db.pool)
    const first = await putSecret(db.pool, keys, workspaceId, { name: 'TOKEN', value: 'a first value' }, 100)
    expect(first).toMatchObject({ kind: 'created', secret: { name: 'TOKEN' } })
    await putSecret(db.pool, keys, workspaceId, { name: 'OTHER', value: 'ümlaut 😀' }, 100)
    const second = await putSecret(db.pool, keys, workspaceId, { name: 'TOKEN', value: 'a second value' }, 100)
    expect(second).toMatchObject({ kind: 'changed' })
    expect(await valuesOf(workspaceId)).toEqual({ TOKEN: 'a second value', OTHER: 'ümlaut 😀' })
    expect((await listSecrets(db.pool, workspaceId)).map(({ name }) => name)).toEqual(['OTHER', 'TOKEN'])
    const { rows } = await db.pool.query("SELECT encode(sealed_value, 'escape') AS text FROM secrets")
    expect(JSON.stringify(rows)).not.toMatch(/value|mlaut/)
    expect(await deleteSecret(db.pool, workspaceId, 'TOKEN')).toBe(true)
    expect(await deleteSecret(db.pool, workspaceId, 'TOKEN')).toBe(false)
    expect(await valuesOf(workspaceId)).toEqual({ OTHER: 'ümlaut 😀' })
  })

  it('makes one secret of concurrent writes to the same name, and keeps the last value', async () => {
    const workspaceId = await addWorkspace(db.pool)
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        putSecret(db.pool, keys, workspaceId, { name: 'TOKEN', value: `value ${i}` }, 100),
      ),
    )
    expect(results.filter(result => result?.kind === 'created')).toHaveLength(1)
    expect((await valuesOf(workspaceId)).TOKEN).toMatch(/^value \d+$/)
    const { rows } = await db.pool.query('SELECT uses FROM data_keys WHERE workspace_id = $1', [workspaceId])
    expect(rows).toEqual([{ uses: 20 }])
  })

  it('makes a new data key after a million uses, and decrypts the values of both', async () => {
    const workspaceId = await addWorkspace(db.pool)
    await putSecret(db.pool, keys, workspaceId, { name: 'OLD', value: 'sealed by one' }, 100)
    await db.pool.query('UPDATE data_keys SET uses = 1000000 WHERE workspace_id = $1', [workspaceId])
    await putSecret(db.pool, keys, workspaceId, { name: 'NEW', value: 'sealed by two' }, 100)
    const { rows } = await db.pool.query(
      'SELECT version, uses FROM data_keys WHERE workspace_id = $1 ORDER BY version',
      [workspaceId],
    )
    expect(rows).toEqual([
      { version: 1, uses: 1_000_000 },
      { version: 2, uses: 1 },
    ])
    expect(await valuesOf(workspaceId)).toEqual({ OLD: 'sealed by one', NEW: 'sealed by two' })
  })
})

describe('refuses', () => {
  it('a value that was moved to another row, of the same workspace or of another', async () => {
    const [one, two] = [await addWorkspace(db.pool), await addWorkspace(db.pool)]
    for (const workspaceId of [one, two]) {
      await putSecret(db.pool, keys, workspaceId, { name: 'A', value: 'value of A' }, 100)
      await putSecret(db.pool, keys, workspaceId, { name: 'B', value: 'value of B' }, 100)
    }
    const copy = (workspaceId: string) =>
      db.pool.query(
        `UPDATE secrets SET sealed_value = (SELECT sealed_value FROM secrets WHERE workspace_id = $1 AND name = 'B')
         WHERE workspace_id = $2 AND name = 'A'`,
        [one, workspaceId],
      )
    for (const workspaceId of [one, two]) {
      expect(await valuesOf(workspaceId)).toMatchObject({ A: 'value of A' })
      await copy(workspaceId)
      const { A, B } = await valuesOf(workspaceId)
      expect(A).toBeInstanceOf(UnreadableSecretError)
      expect(B).toBe('value of B')
    }
    await db.pool.query(
      `UPDATE data_keys SET wrapped_key = (SELECT wrapped_key FROM data_keys WHERE workspace_id = $1) WHERE workspace_id = $2`,
      [one, two],
    )
    expect((await valuesOf(two)).B).toMatchObject({ message: expect.stringContaining('is not the one') })
    expect((await valuesOf(one)).B).toBe('value of B')
    await db.pool.query('DELETE FROM workspaces WHERE id = ANY ($1::uuid[])', [[one, two]])
  })

  it('more secrets than a workspace may have, but not a new value of an existing one', async () => {
    const workspaceId = await addWorkspace(db.pool)
    for (let i = 0; i < 100; i++) await putSecret(db.pool, keys, workspaceId, { name: `S${i}`, value: 'value' }, 100)
    expect(await putSecret(db.pool, keys, workspaceId, { name: 'ONE_MORE', value: 'value' }, 100)).toEqual({
      kind: 'full',
    })
    expect(await putSecret(db.pool, keys, workspaceId, { name: 'S0', value: 'value' }, 100)).toMatchObject({
      kind: 'changed',
    })
  })

  it('a workspace that does not exist', async () => {
    expect(await putSecret(db.pool, keys, randomUUID(), { name: 'A', value: 'value' }, 100)).toBeNull()
  })

  it('master keys that are not those of the stored secrets', async () => {
    const workspaceId = await addWorkspace(db.pool)
    await readSigningSecrets(db.pool, keys, [workspaceId])
    expect(await findMasterKeyProblem(db.pool, keys)).toBeNull()
    expect(await findMasterKeyProblem(db.pool, someMasterKeys())).toContain('k1 is not the one')
    expect(await findMasterKeyProblem(db.pool, parseMasterKeys(aMasterKey('k2')))).toContain('no master key k1')
  })
})

describe('permits', () => {
  it('no access to the secrets of another workspace', async () => {
    const [one, two] = [await addWorkspace(db.pool), await addWorkspace(db.pool)]
    await putSecret(db.pool, keys, one, { name: 'A', value: 'value of one' }, 100)
    expect(await listSecrets(db.pool, two)).toEqual([])
    expect(await deleteSecret(db.pool, two, 'A')).toBe(false)
    expect(await valuesOf(two)).toEqual({})
    expect(await valuesOf(one)).toEqual({ A: 'value of one' })
  })
})
