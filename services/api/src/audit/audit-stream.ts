import type { AuditStream as PublicAuditStream } from '@belfry/contract/audit-entry'
import { operations } from '@belfry/contract/operations'
import {
  putAuditStream as put,
  readAuditStream as read,
  deleteAuditStream as remove,
  rotateAuditStreamSecret as rotate,
} from '@belfry/db/audit-streams/audit-streams'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { hostIsVisiblyBlocked } from '@belfry/domain/address'
import { type FieldError, notFound } from '@belfry/domain/app-error'
import { toId } from '@belfry/domain/id'
import { parseUrl } from '@belfry/domain/target-url'
import { requireStepUp } from '../auth/second-factors.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { inspectTarget } from '../http/inspect-target.ts'
import { audit } from './audit.ts'

export const getAuditStream = endpoint(operations.getAuditStream, async (ctx, { caller }) =>
  readStream(ctx, caller.organizationId),
)

export const putAuditStream = endpoint(operations.putAuditStream, {
  inspect: (ctx, body) => [...inspectTarget(ctx, body), ...inspectProtocol(ctx, body)],
  async handle(ctx, { caller, body: { url } }) {
    await requireStepUp(ctx, caller.user)
    const { organizationId } = caller
    const shownTarget = new URL(url).host
    await inTransaction(ctx.pool, async tx => {
      const isNew = await put(tx, ctx.config.masterKeys, organizationId, { url, shownTarget })
      await audit(tx, caller, isNew ? 'audit_stream.created' : 'audit_stream.changed', toId('org', organizationId), {
        target: shownTarget,
      })
    })
    return readStream(ctx, organizationId)
  },
})

// Audit entries name people and their addresses. A receiver in an opened private range may have no certificate.
function inspectProtocol({ config }: Pick<Context, 'config'>, body: unknown): FieldError[] {
  const { url: text } = Object(body) as { url?: unknown }
  const url = typeof text === 'string' ? parseUrl(text) : null
  if (url?.protocol !== 'http:') return []
  const { hostname } = url
  const isOpened = hostIsVisiblyBlocked(hostname, []) && !hostIsVisiblyBlocked(hostname, config.allowedPrivateTargets)
  if (isOpened) return []
  return [{ path: 'url', code: 'invalid_url', message: 'The URL of an audit stream must start with https://.' }]
}

export const deleteAuditStream = endpoint(operations.deleteAuditStream, async (ctx, { caller }) => {
  await requireStepUp(ctx, caller.user)
  const { organizationId } = caller
  await inTransaction(ctx.pool, async tx => {
    const target = await remove(tx, organizationId)
    if (target === null) return
    await audit(tx, caller, 'audit_stream.deleted', toId('org', organizationId), { target })
  })
})

export const rotateAuditStreamSecret = endpoint(operations.rotateAuditStreamSecret, async (ctx, { caller }) => {
  const { organizationId } = caller
  await inTransaction(ctx.pool, async tx => {
    if (!(await rotate(tx, ctx.config.masterKeys, organizationId))) throw notFound()
    await audit(tx, caller, 'audit_stream.secret_rotated', toId('org', organizationId))
  })
  return readStream(ctx, organizationId)
})

async function readStream({ pool, config }: Context, organizationId: string): Promise<PublicAuditStream> {
  const stream = await read(pool, config.masterKeys, organizationId)
  const secrets = stream?.secrets ?? []
  return {
    target: stream?.shownTarget ?? null,
    signing_secrets: secrets.map(({ value, expiresAt }) => {
      return { secret: value, expires_at: expiresAt?.toISOString() ?? null }
    }),
    waiting: stream?.waiting ?? 0,
    last_error: stream?.lastError ?? null,
    updated_at: stream?.updatedAt.toISOString() ?? null,
  }
}
