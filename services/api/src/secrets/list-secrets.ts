import { pageOf, secret } from '@belfry/contract'
import { listSecrets as readEntries } from '@belfry/db'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { presentSecret } from './present-secret.ts'

/** A workspace has so few of them that they make one page. */
export const listSecrets = endpoint({
  right: 'secret.read',
  summary: 'List the secrets of a workspace by name, without their values',
  answer: { status: 200, body: pageOf(secret) },
  params: { ws: 'ws' },
  async handle(ctx, { caller }) {
    const secrets = await readEntries(ctx.pool, caller.workspaceId)
    return ok({ data: secrets.map(presentSecret), next_cursor: null })
  },
})
