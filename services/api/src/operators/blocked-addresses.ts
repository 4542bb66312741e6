import { operations } from '@belfry/contract/operations'
import {
  blockAddress as block,
  listBlockedAddresses as list,
  unblockAddress as unblock,
} from '@belfry/db/outbox/mail-blocks'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { endpoint } from '../endpoint.ts'
import { given } from '../http/given.ts'
import { readCursor, toPage } from '../http/page.ts'
import { notFound } from '../http/refusals.ts'
import { recordOperatorAction } from './tenants.ts'

export const listBlockedAddresses = endpoint(operations.listBlockedAddresses, async (ctx, { query }) => {
  const before = readCursor('blocked-addresses', query) ?? null
  const rows = await list(ctx.pool, { search: query.search ?? '', before, limit: query.limit + 1 })
  return toPage('blocked-addresses', query, rows, ({ address, blockedAt }) => {
    return { email: address, blocked_at: blockedAt.toISOString() }
  })
})

export const blockAddress = endpoint(operations.blockAddress, async (ctx, { caller, body }) => {
  const objectId = body.email.toLowerCase()
  await inTransaction(ctx.pool, async tx => {
    if (!(await block(tx, objectId))) return
    const details = given({ reason: body.reason })
    await recordOperatorAction(tx, caller, { action: 'address.blocked', objectId, details })
  })
})

export const unblockAddress = endpoint(operations.unblockAddress, async (ctx, { caller, body }) => {
  const objectId = body.email.toLowerCase()
  await inTransaction(ctx.pool, async tx => {
    if (!(await unblock(tx, objectId))) throw notFound()
    await recordOperatorAction(tx, caller, { action: 'address.unblocked', objectId, details: {} })
  })
})
