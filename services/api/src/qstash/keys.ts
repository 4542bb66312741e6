import { readQstashSigningKeys, rotateQstashSigningKeys } from '@belfry/db/qstash/signing-keys'
import { audit } from '../audit/audit.ts'
import { notFound } from '../http/refusals.ts'
import { ok, type Reply } from '../http/reply.ts'
import type { Call } from './call.ts'

/** `GET /v2/keys` */
export async function getKeys({ ctx, caller: { workspaceId } }: Call): Promise<Reply> {
  const keys = (await readQstashSigningKeys(ctx.pool, ctx.config.masterKeys, [workspaceId])).get(workspaceId)
  if (!keys) throw notFound()
  return ok(keys)
}

/** `POST /v2/keys/rotate` */
export async function rotateKeys({ ctx, caller }: Call): Promise<Reply> {
  const record: Parameters<typeof rotateQstashSigningKeys>[3] = tx =>
    audit(tx, caller, { action: 'signing_secret.rotated', objectId: 'qstash' })
  const keys = await rotateQstashSigningKeys(ctx.pool, ctx.config.masterKeys, caller.workspaceId, record)
  if (!keys) throw notFound()
  return ok(keys)
}
