import type { Pool } from '../postgres/pool.ts'

/**
 * Purges up to `limit` deleted organizations that have no workspace left, with their usage and invitations. Their audit log
 * stays. One with an audit stream stays for an hour, in which the stream sends the last entries.
 * @returns Their ids.
 */
export async function purgeOrganizations(pool: Pool, limit: number): Promise<string[]> {
  const text = `
    WITH purged AS (
      DELETE FROM organizations WHERE id IN (
        SELECT id FROM organizations o WHERE deleted_at IS NOT NULL
          AND NOT EXISTS (SELECT FROM workspaces w WHERE w.organization_id = o.id)
          AND (deleted_at < now() - interval '1 hour'
               OR NOT EXISTS (SELECT FROM audit_streams s WHERE s.organization_id = o.id))
        ORDER BY deleted_at LIMIT $1 FOR UPDATE SKIP LOCKED
      ) RETURNING id
    ),
    ended AS (DELETE FROM audit_streams WHERE organization_id IN (SELECT id FROM purged))
    SELECT id FROM purged`
  const { rows } = await pool.query<{ id: string }>(text, [limit])
  return rows.map(({ id }) => id)
}
