import { putSecretBody, secret } from '@belfry/contract'
import { putSecret as storeSecret } from '@belfry/db'
import { toId } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import { endpoint } from '../http/endpoint.ts'
import { notFound } from '../http/refusals.ts'
import { created, ok } from '../http/reply.ts'
import { overCount, readQuota } from '../quotas/quotas.ts'
import { presentSecret } from './list-secrets.ts'
import { newSecretNameOf } from './secret-name.ts'

export const putSecret = endpoint({
  right: 'secret.write',
  summary: 'Create a secret (201), or change its value (200)',
  answer: { status: 200, orStatus: 201, body: secret },
  refusals: ['quota_exceeded'],
  params: { ws: 'ws' },
  body: putSecretBody,
  async handle(ctx, { caller, body, request }) {
    const name = newSecretNameOf(request)
    const { workspaceId } = caller
    const { limits } = await readQuota(ctx, caller.organizationId)
    const { masterKeys } = ctx.config
    const max = limits.secrets
    const result = await storeSecret(ctx.pool, masterKeys, workspaceId, name, body.value, max, (tx, kind) =>
      audit(tx, caller, { action: `secret.${kind}`, objectId: name }),
    )
    if (result === null) throw notFound()
    if (result.kind === 'full') throw overCount('secrets', max)
    const presented = presentSecret(result.secret)
    if (result.kind === 'changed') return ok(presented)
    return created(`/api/v1/workspaces/${toId('ws', workspaceId)}/secrets/${name}`, presented)
  },
})
