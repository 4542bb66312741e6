import { revokeSigningSecret as revoke } from '@belfry/db'
import { AppError, toId } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { noContent } from '../http/reply.ts'

export const revokeSigningSecret = endpoint({
  right: 'signing_secret.revoke',
  summary: 'Revoke an old signing secret at once',
  answer: { status: 204 },
  refusals: ['conflict'],
  params: { ws: 'ws', secret: 'sec' },
  async handle(ctx, { caller, params }) {
    const result = await revoke(ctx.pool, caller.workspaceId, params.secret, tx =>
      audit(tx, caller, { action: 'signing_secret.revoked', objectId: toId('sec', params.secret) }),
    )
    if (result === 'unknown') throw notFound()
    if (result === 'current') {
      throw new AppError(
        'conflict',
        'This is the current signing secret. Create a new one first, then revoke this one.',
      )
    }
    return noContent()
  },
})
