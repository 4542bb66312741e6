import type { SigningSecret as PublicSigningSecret } from '@belfry/contract'
import type { SigningSecret } from '@belfry/db'
import { toId } from '@belfry/domain'

/** The public form of a signing secret, value included: its receivers need it. */
export function presentSigningSecret(secret: SigningSecret): PublicSigningSecret {
  return {
    id: toId('sec', secret.id),
    workspace_id: toId('ws', secret.workspaceId),
    secret: secret.value,
    created_at: secret.createdAt.toISOString(),
    expires_at: secret.expiresAt?.toISOString() ?? null,
  }
}
