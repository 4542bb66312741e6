import { signingSecret } from '@belfry/contract'
import { maxSigningSecrets, rotateSigningSecret as rotate } from '@belfry/db'
import { AppError, toId } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { created } from '../http/reply.ts'
import { presentSigningSecret } from './list-signing-secrets.ts'

export const rotateSigningSecret = endpoint({
  right: 'signing_secret.rotate',
  summary: 'Create a new signing secret; the old one also signs for 24 hours',
  answer: { status: 201, body: signingSecret },
  refusals: ['conflict'],
  params: { ws: 'ws' },
  async handle(ctx, { caller }) {
    const secret = await rotate(ctx.pool, ctx.config.masterKeys, caller.workspaceId, (tx, { id }) =>
      audit(tx, caller, { action: 'signing_secret.rotated', objectId: toId('sec', id) }),
    )
    if (secret === null) throw notFound()
    if (secret === 'full') {
      const advice = 'Revoke an old one, or wait until one has expired.'
      throw new AppError('conflict', `${maxSigningSecrets} signing secrets are already in use. ${advice}`)
    }
    const presented = presentSigningSecret(secret)
    return created(`/api/v1/workspaces/${presented.workspace_id}/signing-secrets/${presented.id}`, presented)
  },
})
