import { operations } from '@belfry/contract/operations'
import type { Secret } from '@belfry/contract/secret'
import type { Transaction } from '@belfry/db/postgres/in-transaction'
import {
  listSecrets as readEntries,
  deleteSecret as removeSecret,
  type SecretEntry,
  putSecret as storeSecret,
} from '@belfry/db/secrets/secrets'
import { invalidField, notFound } from '@belfry/domain/app-error'
import { toId } from '@belfry/domain/id'
import { isSecretName } from '@belfry/domain/secrets/secret-reference'
import { audit } from '../audit/audit.ts'
import { endpoint } from '../endpoint.ts'
import { created } from '../http/response.ts'
import { overCount, readQuota } from '../quotas/quotas.ts'

/** Returns all secrets as one page: a workspace has few of them. */
export const listSecrets = endpoint(operations.listSecrets, async (ctx, { caller }) => {
  const secrets = await readEntries(ctx.pool, caller.workspaceId)
  return { data: secrets.map(presentSecret), next_cursor: null }
})

function presentSecret({ name, allowedHosts, createdAt, updatedAt }: SecretEntry): Secret {
  return { name, allowed_hosts: allowedHosts, created_at: createdAt.toISOString(), updated_at: updatedAt.toISOString() }
}

export const putSecret = endpoint(operations.putSecret, async (ctx, { caller, body, params: { name } }) => {
  if (!isSecretName(name)) {
    const message = 'A name has 1 to 64 capital letters, digits and underscores, and begins with a letter.'
    throw invalidField('name', 'invalid_secret_name', message, 'path')
  }
  const { workspaceId } = caller
  const { limits } = await readQuota(ctx, caller.organizationId)
  const { masterKeys } = ctx.config
  const max = limits.secrets
  const { value, allowed_hosts: allowedHosts } = body
  const secret = { name, value, allowedHosts }
  const result = await storeSecret(ctx.pool, masterKeys, workspaceId, secret, max, (tx, kind) =>
    audit(tx, caller, `secret.${kind}`, name, allowedHosts === undefined ? {} : { allowed_hosts: allowedHosts }),
  )
  if (result === null) throw notFound()
  if (result.kind === 'full') throw overCount('secrets', max)
  const presented = presentSecret(result.secret)
  if (result.kind === 'changed') return presented
  return created(`/api/v1/workspaces/${toId('ws', workspaceId)}/secrets`, presented)
})

export const deleteSecret = endpoint(operations.deleteSecret, async (ctx, { caller, params: { name } }) => {
  const record = (tx: Transaction) => audit(tx, caller, 'secret.deleted', name)
  const isGone = isSecretName(name) && (await removeSecret(ctx.pool, caller.workspaceId, name, record))
  if (!isGone) throw notFound()
})
