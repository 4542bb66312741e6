import type { Pool } from '../postgres/pool.ts'

/**
 * Purges up to `limit` deleted organizations that have no workspace left, with their usage and invitations. Their audit log
 * stays.
 * @returns Their ids.
 */
export async function purgeOrganizations(pool: Pool, limit: number): Promise<string[]> {
  const text = `
    DELETE FROM organizations WHERE id IN (
      SELECT id FROM organizations o WHERE deleted_at IS NOT NULL
        AND NOT EXISTS (SELECT FROM workspaces w WHERE w.organization_id = o.id)
      ORDER BY deleted_at LIMIT $1 FOR UPDATE SKIP LOCKED
    ) RETURNING id`
  const { rows } = await pool.query<{ id: string }>(text, [limit])
  return rows.map(({ id }) => id)
}
