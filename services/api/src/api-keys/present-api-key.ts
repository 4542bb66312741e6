import type { ApiKey } from '@belfry/contract/api-key'
import type { ApiKey as StoredApiKey } from '@belfry/db/generated/client'
import { toId } from '@belfry/domain/id'

export type ApiKeyRow = Omit<StoredApiKey, 'hash'>

/** Returns the public form of an API key. */
export function presentApiKey(row: ApiKeyRow): ApiKey {
  return {
    id: toId('key', row.id),
    workspace_id: toId('ws', row.workspaceId),
    name: row.name,
    prefix: row.prefix,
    scopes: row.scopes,
    allowed_ranges: row.allowedRanges,
    federated_credential_id: row.federatedCredentialId && toId('fed', row.federatedCredentialId),
    subject: row.subject,
    created_by: toId('user', row.createdBy),
    created_at: row.createdAt.toISOString(),
    last_used_at: row.lastUsedAt?.toISOString() ?? null,
    last_used_address: row.lastUsedAddress,
    expires_at: row.expiresAt?.toISOString() ?? null,
    revoked_at: row.revokedAt?.toISOString() ?? null,
  }
}
