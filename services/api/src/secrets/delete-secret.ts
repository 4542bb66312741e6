import { deleteSecret as removeSecret } from '@belfry/db'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/not-found.ts'
import { noContent } from '../http/reply.ts'
import { secretNameOf } from './secret-name.ts'

export const deleteSecret = endpoint({
  right: 'secret.delete',
  summary: 'Delete a secret',
  answer: { status: 204 },
  params: { ws: 'ws' },
  async handle(ctx, { caller, request }) {
    if (!(await removeSecret(ctx.pool, caller.workspaceId, secretNameOf(request)))) throw notFound()
    return noContent()
  },
})
