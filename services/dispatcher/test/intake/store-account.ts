import { randomUUID } from 'node:crypto'
import type { Pool } from '@belfry/db/postgres/pool'
import { aWorkspace } from './setup-intake.ts'

type Account = { organizations: number; each: number; tier?: string }

/** Stores organizations of one owner with the given number of workspaces each. Returns the ids. */
export async function storeAccount(pool: Pool, { organizations, each, tier = 'unicorn' }: Account) {
  const owner = randomUUID()
  const user = `INSERT INTO users (id, email, name, password_hash) VALUES ($1, $2, 'A', '')`
  await pool.query(user, [owner, `${owner}@x.example`])
  const account = { owner, organizations: [] as string[], workspaces: [] as string[] }
  for (let i = 0; i < organizations; i++) {
    const organization = randomUUID()
    account.organizations.push(organization)
    const stored = `INSERT INTO organizations (id, name, slug, tier) VALUES ($1::uuid, 'A', $1::text, $2)`
    await pool.query(stored, [organization, tier])
    const membership = `INSERT INTO memberships (organization_id, user_id, role) VALUES ($1, $2, 'owner')`
    await pool.query(membership, [organization, owner])
    for (let j = 0; j < each; j++) {
      const workspace = aWorkspace()
      account.workspaces.push(workspace)
      const text = `INSERT INTO workspaces (id, organization_id, name) VALUES ($1, $2, 'A')`
      await pool.query(text, [workspace, organization])
    }
  }
  return account
}
