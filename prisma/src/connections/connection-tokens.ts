import { newUuid } from '@belfry/domain/id'
import type { MasterKeys } from '@belfry/vault'
import type { Pool } from '../postgres/pool.ts'
import { createOpener, dataKeyColumns, type SealedRow, takeDataKey } from '../secrets/data-keys.ts'
import { inWorkspace } from '../secrets/in-workspace.ts'

/** A connection whose tokens dispatchers share. */
export type TokenOwner = { id: string; workspaceId: string; version: number }

/** An access token. Its times are relative to the moment at which it was read. */
export type StoredToken = { tokenId: string; value: string; refreshInMs: number; expiresInMs: number }

/** Returns the unexpired token of a version of a connection, or null: the token of another one may be for other hosts. */
export async function readConnectionToken(
  pool: Pool,
  masterKeys: MasterKeys,
  { id, workspaceId, version }: TokenOwner,
): Promise<StoredToken | null> {
  const text = `
    SELECT t.token_id AS id, t.workspace_id AS "workspaceId", t.sealed_value AS "sealedValue", ${dataKeyColumns},
           extract(epoch FROM t.refresh_at - clock_timestamp())::float8 * 1000 AS "refreshInMs",
           extract(epoch FROM t.expires_at - clock_timestamp())::float8 * 1000 AS "expiresInMs"
    FROM connection_tokens t JOIN data_keys k ON k.workspace_id = t.workspace_id AND k.version = t.key_version
    WHERE t.connection_id = $1 AND t.workspace_id = $2 AND t.connection_version = $3
      AND t.expires_at > clock_timestamp()`
  const query = { name: 'read_connection_token', text, values: [id, workspaceId, version] }
  const { rows } = await pool.query<SealedRow & Pick<StoredToken, 'refreshInMs' | 'expiresInMs'>>(query)
  const [row] = rows
  if (!row) return null
  const { refreshInMs, expiresInMs } = row
  return { tokenId: row.id, value: createOpener(masterKeys)(row), refreshInMs, expiresInMs }
}

/** SQL: how long a target that refuses every token must wait until one of its answers replaces the token again. */
const refusalPause = `interval '30 seconds'`

/**
 * Reserves the request for the next token for one dispatcher, for `leaseMs`. `taken`: the caller requests it. `busy`:
 * another dispatcher does. `unneeded`: the current token stays, or the connection has been deleted.
 * @param refused - The token to which a target answered 401, or null.
 */
export async function takeTokenRefresh(
  pool: Pool,
  { id, workspaceId, version }: TokenOwner,
  refused: string | null,
  leaseMs: number,
): Promise<{ kind: 'taken'; id: string } | { kind: 'busy' | 'unneeded' }> {
  const text = `
    INSERT INTO connection_tokens AS t (connection_id, workspace_id, connection_version, refresh_id, refreshing_until)
    SELECT c.id, c.workspace_id, c.version, $4::uuid, clock_timestamp() + $5 * interval '1 millisecond'
    FROM connections c WHERE c.id = $1 AND c.workspace_id = $2
    ON CONFLICT (connection_id) DO UPDATE
    SET refresh_id = excluded.refresh_id, refreshing_until = excluded.refreshing_until,
        refused_at = CASE WHEN t.token_id = $6 THEN clock_timestamp() ELSE t.refused_at END
    WHERE (t.refreshing_until IS NULL OR t.refreshing_until <= clock_timestamp())
      AND (t.token_id IS NULL OR t.connection_version < $3 OR t.refresh_at <= clock_timestamp()
           OR t.token_id = $6 AND (t.refused_at IS NULL OR t.refused_at <= clock_timestamp() - ${refusalPause}))
    RETURNING refresh_id`
  const values = [id, workspaceId, version, newUuid(), leaseMs, refused]
  const { rows } = await pool.query<{ refresh_id: string }>({ name: 'take_token_refresh', text, values })
  if (rows[0]) return { kind: 'taken', id: rows[0].refresh_id }
  const busy = await pool.query(
    `SELECT FROM connection_tokens
     WHERE connection_id = $1 AND workspace_id = $2 AND refreshing_until > clock_timestamp()`,
    [id, workspaceId],
  )
  return { kind: busy.rowCount === 1 ? 'busy' : 'unneeded' }
}

/** Stores the token that a request has returned, for all dispatchers. Does nothing when another request has replaced it. */
export async function storeConnectionToken(
  pool: Pool,
  masterKeys: MasterKeys,
  { id, workspaceId, version }: TokenOwner,
  refreshId: string,
  token: StoredToken,
): Promise<void> {
  await inWorkspace(pool, workspaceId, async tx => {
    const dataKey = await takeDataKey(tx, masterKeys, workspaceId)
    const text = `
      UPDATE connection_tokens
      SET token_id = $4, sealed_value = $5, key_version = $6, connection_version = $7,
          refresh_at = clock_timestamp() + $8 * interval '1 millisecond',
          expires_at = clock_timestamp() + $9 * interval '1 millisecond', refresh_id = NULL, refreshing_until = NULL
      WHERE connection_id = $1 AND workspace_id = $2 AND refresh_id = $3`
    const { tokenId, value, refreshInMs, expiresInMs } = token
    const sealed = [tokenId, dataKey.seal(tokenId, value), dataKey.version, version]
    await tx.query(text, [id, workspaceId, refreshId, ...sealed, refreshInMs, expiresInMs])
  })
}

/** Ends a request that has failed, so the next one need not wait. */
export async function releaseTokenRefresh(pool: Pool, { id, workspaceId }: TokenOwner, refreshId: string) {
  const text = `
    UPDATE connection_tokens SET refreshing_until = NULL
    WHERE connection_id = $1 AND workspace_id = $2 AND refresh_id = $3`
  await pool.query(text, [id, workspaceId, refreshId])
}
