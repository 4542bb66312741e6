import { type SigningSecret as PublicSigningSecret, pageOf, signingSecret } from '@belfry/contract'
import { readSigningSecrets, type SigningSecret } from '@belfry/db'
import { toId } from '@belfry/domain'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'

/** Returns all signing secrets as one page, the current one first: a workspace has few of them. */
export const listSigningSecrets = endpoint({
  right: 'signing_secret.read',
  summary: 'List the signing secrets of a workspace, the current one first',
  answer: { status: 200, body: pageOf(signingSecret) },
  params: { ws: 'ws' },
  async handle(ctx, { caller }) {
    const found = await readSigningSecrets(ctx.pool, ctx.config.masterKeys, [caller.workspaceId])
    return ok({ data: (found.get(caller.workspaceId) ?? []).map(presentSigningSecret), next_cursor: null })
  },
})

/** Returns the public form of a signing secret, with its value: receivers need it. */
export function presentSigningSecret(secret: SigningSecret): PublicSigningSecret {
  return {
    id: toId('sec', secret.id),
    workspace_id: toId('ws', secret.workspaceId),
    secret: secret.value,
    created_at: secret.createdAt.toISOString(),
    expires_at: secret.expiresAt?.toISOString() ?? null,
  }
}
