import { deleteSecret as removeSecret } from '@belfry/db'
import { audit } from '../audit/audit.ts'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { noContent } from '../http/reply.ts'
import { secretNameOf } from './secret-name.ts'

export const deleteSecret = endpoint({
  right: 'secret.delete',
  summary: 'Delete a secret',
  answer: { status: 204 },
  params: { ws: 'ws' },
  async handle(ctx, { caller, request }) {
    const name = secretNameOf(request)
    const isGone = await removeSecret(ctx.pool, caller.workspaceId, name, tx =>
      audit(tx, caller, { action: 'secret.deleted', objectId: name }),
    )
    if (!isGone) throw notFound()
    return noContent()
  },
})
