import { newUuid } from '@belfry/domain/id'
import type { MasterKeys } from '@belfry/vault'
import type { Connection } from '../generated/client.ts'
import { inTransaction } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import {
  createOpener,
  dataKeyColumns,
  orUnreadable,
  type SealedRow,
  takeDataKey,
  type UnreadableSecretError,
} from '../secrets/data-keys.ts'
import { countNamed, inWorkspace, type OnRecord } from '../secrets/in-workspace.ts'

export type ConnectionKind = 'header' | 'basic' | 'oauth2' | 'identity_token' | 'tls'

/** What a connection has beside its secrets. Each kind uses some of these. */
export type ConnectionSettings = {
  /** The name of the header with the secret value. */
  header?: string
  username?: string
  /** The token endpoint of an authorization server. */
  tokenUrl?: string
  clientId?: string
  /** How the client proves who it is: HTTP Basic, or parameters in the body. */
  clientAuthentication?: 'basic' | 'post'
  scope?: string
  /** Further parameters of the token request, such as `audience`. */
  parameters?: Record<string, string>
  audience?: string
  lifetimeS?: number
  /** Authorities that are trusted in addition to the public ones, as PEM. */
  caCertificate?: string
  /** The certificate that calls present, as PEM. */
  clientCertificate?: string
}

/** The secrets of a connection. They are sealed together. */
export type ConnectionSecrets = { value?: string; password?: string; clientSecret?: string; clientKey?: string }

/** A connection as the API shows it, without its secrets. */
export type ConnectionEntry = Pick<Connection, 'id' | 'name' | 'hosts' | 'createdAt' | 'updatedAt'> & {
  kind: ConnectionKind
  settings: ConnectionSettings
}

export type OpenConnection = Omit<ConnectionEntry, 'createdAt' | 'updatedAt'> & {
  workspaceId: string
  /** Counts its changes. */
  version: number
  secrets: ConnectionSecrets
  /** Whether the log keeps the responses to its calls. */
  keepsResponses: boolean
}

const entryColumns = `id, name, kind, settings::json AS settings, hosts, created_at AS "createdAt", updated_at AS "updatedAt"`

/**
 * Creates or replaces a connection. Its current token is not used any more. `full`: the workspace has `max` connections.
 * Null: there is no such workspace.
 * @param secretsOf - Returns the new secrets, from the connection that is replaced; null for a new one.
 */
export function putConnection(
  pool: Pool,
  masterKeys: MasterKeys,
  workspaceId: string,
  { name, kind, settings, hosts }: Pick<ConnectionEntry, 'name' | 'kind' | 'settings' | 'hosts'>,
  secretsOf: (before: OpenConnection | null) => ConnectionSecrets,
  max: number,
  record: OnRecord<'created' | 'changed'>,
): Promise<{ kind: 'created' | 'changed'; connection: ConnectionEntry } | { kind: 'full' } | null> {
  return inWorkspace(pool, workspaceId, async tx => {
    const { total, existing } = await countNamed(tx, 'connections', workspaceId, name)
    if (existing === null && total >= max) return { kind: 'full' as const }
    const before =
      existing === null ? undefined : (await readConnections(tx, masterKeys, [workspaceId])).get(workspaceId)
    const found = before?.get(name)
    const secrets = secretsOf(found === undefined || found instanceof Error ? null : found)
    const id = existing ?? newUuid()
    const dataKey = await takeDataKey(tx, masterKeys, workspaceId)
    const sealed = [dataKey.seal(id, JSON.stringify(secrets)), dataKey.version]
    const { rows } = await tx.query<ConnectionEntry>(
      `INSERT INTO connections AS c (id, workspace_id, name, kind, settings, hosts, sealed_value, key_version)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
       ON CONFLICT (workspace_id, name)
         DO UPDATE SET kind = excluded.kind, settings = excluded.settings, hosts = excluded.hosts,
                       sealed_value = excluded.sealed_value, key_version = excluded.key_version,
                       version = c.version + 1, updated_at = now()
       RETURNING ${entryColumns}`,
      [id, workspaceId, name, kind, JSON.stringify(settings), hosts, ...sealed],
    )
    await tx.query('DELETE FROM connection_tokens WHERE connection_id = $1 AND workspace_id = $2', [id, workspaceId])
    const [connection] = rows
    if (!connection) throw new Error('The connection was not stored.')
    const result = existing === null ? 'created' : 'changed'
    await record(tx, result)
    return { kind: result, connection }
  })
}

export async function listConnections(pool: Pool, workspaceId: string): Promise<ConnectionEntry[]> {
  const text = `SELECT ${entryColumns} FROM connections WHERE workspace_id = $1 ORDER BY name`
  return (await pool.query<ConnectionEntry>(text, [workspaceId])).rows
}

export async function findConnection(pool: Pool, workspaceId: string, name: string) {
  const text = `SELECT ${entryColumns} FROM connections WHERE workspace_id = $1 AND name = $2`
  return (await pool.query<ConnectionEntry>(text, [workspaceId, name])).rows[0]
}

/** Deletes a connection unless a cron job or a subscription names it. Tasks that name it fail. */
export function deleteConnection(pool: Pool, workspaceId: string, name: string, record: OnRecord) {
  return inTransaction(pool, async tx => {
    const used = await tx.query(
      `SELECT FROM cron_jobs WHERE workspace_id = $1 AND connection = $2
       UNION ALL SELECT FROM subscriptions WHERE workspace_id = $1 AND connection = $2 LIMIT 1`,
      [workspaceId, name],
    )
    if (used.rowCount !== 0) return 'in_use'
    const text = 'DELETE FROM connections WHERE workspace_id = $1 AND name = $2'
    if ((await tx.query(text, [workspaceId, name])).rowCount === 0) return 'unknown'
    await record(tx)
    return 'deleted'
  })
}

/** The connections of a workspace by name. A connection that cannot be decrypted has an error instead. */
export type OpenConnections = Map<string, OpenConnection | UnreadableSecretError>

type ConnectionRow = SealedRow & Omit<OpenConnection, 'secrets'> & { connectionVersion: number }

/** Decrypts the connections of workspaces. Only for the dispatcher, and for replacing connections. */
export async function readConnections(
  db: Pick<Pool, 'query'>,
  masterKeys: MasterKeys,
  workspaceIds: readonly string[],
): Promise<Map<string, OpenConnections>> {
  const text = `
    SELECT c.id, c.workspace_id AS "workspaceId", c.name, c.kind, c.settings::json AS settings, c.hosts,
           c.version AS "connectionVersion", c.sealed_value AS "sealedValue",
           w.keeps_responses_with_secrets AS "keepsResponses", ${dataKeyColumns}
    FROM connections c JOIN workspaces w ON w.id = c.workspace_id
    JOIN data_keys k ON k.workspace_id = c.workspace_id AND k.version = c.key_version
    WHERE c.workspace_id = ANY ($1::uuid[])`
  const { rows } = await db.query<ConnectionRow>({ name: 'read_connections', text, values: [workspaceIds] })
  const open = createOpener(masterKeys)
  const found = new Map<string, OpenConnections>(workspaceIds.map(id => [id, new Map()]))
  for (const row of rows) {
    const { id, workspaceId, name, kind, settings, hosts, connectionVersion: version, keepsResponses } = row
    const connection = orUnreadable(() => {
      const secrets = JSON.parse(open(row)) as ConnectionSecrets // as putConnection stored them
      return { id, workspaceId, name, kind, settings, hosts, version, secrets, keepsResponses }
    })
    found.get(workspaceId)?.set(name, connection)
  }
  return found
}
