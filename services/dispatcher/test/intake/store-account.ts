import { randomUUID } from 'node:crypto'
import type { Pool } from '@belfry/db/postgres/pool'
import { aWorkspace } from './setup-intake.ts'

type Account = { organizations: number; each: number; tier?: string; hasSucceeded?: boolean }

/**
 * Stores organizations of one owner with the given number of workspaces each. Returns the ids.
 * @param account - `hasSucceeded`: whether a task of each workspace has. Default: false.
 */
export async function storeAccount(pool: Pool, account: Account) {
  const { organizations, each, tier = 'unicorn', hasSucceeded = false } = account
  const owner = randomUUID()
  const user = `INSERT INTO users (id, email, name, password_hash) VALUES ($1, $2, 'A', '')`
  await pool.query(user, [owner, `${owner}@x.example`])
  const stored = { owner, organizations: [] as string[], workspaces: [] as string[] }
  for (let i = 0; i < organizations; i++) {
    const organization = randomUUID()
    stored.organizations.push(organization)
    const text = `INSERT INTO organizations (id, name, slug, tier) VALUES ($1::uuid, 'A', $1::text, $2)`
    await pool.query(text, [organization, tier])
    const membership = `INSERT INTO memberships (organization_id, user_id, role) VALUES ($1, $2, 'owner')`
    await pool.query(membership, [organization, owner])
    for (let j = 0; j < each; j++) {
      const workspace = aWorkspace()
      stored.workspaces.push(workspace)
      const text = `INSERT INTO workspaces (id, organization_id, name) VALUES ($1, $2, 'A')`
      await pool.query(text, [workspace, organization])
      const success = `INSERT INTO tasks (id, workspace_id, source, execute_at, due_at, state, finished_at)
                       VALUES (gen_random_uuid(), $1, 'event', now(), now(), 'success', now())`
      if (hasSucceeded) await pool.query(success, [workspace])
    }
  }
  return stored
}
