import { pageOf, signingSecret } from '@belfry/contract'
import { readSigningSecrets } from '@belfry/db'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { presentSigningSecret } from './present-signing-secret.ts'

/** The current one first. A workspace has so few of them that they make one page. */
export const listSigningSecrets = endpoint({
  right: 'signing_secret.read',
  summary: 'List what deliveries are signed with, the current one first',
  answer: { status: 200, body: pageOf(signingSecret) },
  params: { ws: 'ws' },
  async handle(ctx, { caller }) {
    const found = await readSigningSecrets(ctx.pool, ctx.config.masterKeys, [caller.workspaceId])
    return ok({ data: (found.get(caller.workspaceId) ?? []).map(presentSigningSecret), next_cursor: null })
  },
})
