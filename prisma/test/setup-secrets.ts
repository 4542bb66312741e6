import { randomBytes, randomUUID } from 'node:crypto'
import { type MasterKeys, parseMasterKeys } from '@belfry/vault'
import type { Pool } from '../src/postgres/pool.ts'

/** A master key in the format of ENCRYPTION_KEYS. */
export function aMasterKey(id: string): string {
  return `${id}:${randomBytes(32).toString('base64')}`
}

export function someMasterKeys(): MasterKeys {
  return parseMasterKeys(aMasterKey('k1'))
}

/** Creates an organization with workspaces. */
export async function addWorkspaces(pool: Pool, count: number): Promise<string[]> {
  const organizationId = randomUUID()
  await pool.query('INSERT INTO organizations (id, name, slug, tier, updated_at) VALUES ($1, $2, $3, $4, now())', [
    ...[organizationId, 'Acme', organizationId, 'free'],
  ])
  const ids = Array.from({ length: count }, () => randomUUID())
  await pool.query(
    `INSERT INTO workspaces (id, organization_id, name, updated_at) SELECT unnest($1::uuid[]), $2, 'Main', now()`,
    [ids, organizationId],
  )
  return ids
}

export async function addWorkspace(pool: Pool): Promise<string> {
  const [id] = await addWorkspaces(pool, 1)
  return id!
}
