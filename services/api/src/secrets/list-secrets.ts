import { pageOf, type Secret, secret } from '@belfry/contract'
import { listSecrets as readEntries, type SecretEntry } from '@belfry/db'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'

/** Returns all secrets as one page: a workspace has few of them. */
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

/** Returns the public form of a secret. */
export function presentSecret({ name, createdAt, updatedAt }: SecretEntry): Secret {
  return { name, created_at: createdAt.toISOString(), updated_at: updatedAt.toISOString() }
}
