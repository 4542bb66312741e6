import { operations } from '@belfry/contract/operations'
import type { QueueField } from '@belfry/contract/queue'
import type { Subscription } from '@belfry/contract/subscription'
import type { Prisma, Subscription as SubscriptionRow } from '@belfry/db/generated/client'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { dbOf, inTransaction } from '@belfry/db/postgres/in-transaction'
import { AppError, notFound } from '@belfry/domain/app-error'
import { newUuid, toId } from '@belfry/domain/id'
import type { Condition } from '@belfry/domain/payload-filter'
import { presentCallbacks, presentRetry } from '@belfry/present/task-form'
import { audit } from '../audit/audit.ts'
import { type Allowed, authorOf, requireReader } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { refuseUsedKey } from '../http/errors.ts'
import { given, isEmpty } from '../http/given.ts'
import { type PageRows, readPage } from '../http/page.ts'
import { created } from '../http/response.ts'
import { nameQueues, planQueues } from '../queues/queues.ts'
import { requireSecretUse } from '../secrets/require-secret-use.ts'
import { inspectRequest, mergeCallbacks, toRequestChange, toStoredRequest } from '../tasks/new-task.ts'

// One event can create this many tasks.
const maxInWorkspace = 1_000

export const createSubscription = endpoint(operations.createSubscription, {
  inspect: (ctx, body) => inspectRequest(ctx, body),
  async handle(ctx, { caller, body, bodyText }) {
    const stored = toStoredRequest({ ...body, method: 'POST' }, bodyText)
    const { method: _, payload: __, contentType: ___, ...request } = stored // an event has its own
    await requireSecretUse(ctx.pool, caller, [request])
    const store = async (tx: PrismaTransaction) => {
      await nameQueue(tx, caller, body.queue)
      return insertSubscription(tx, caller, {
        key: body.key ?? null,
        topic: body.topic,
        filter: toStoredFilter(body.filter),
        active: body.active,
        ...request,
        maxAgeMs: body.max_age_ms,
        labels: body.labels,
      })
    }
    const row = await refuseUsedKey(body.key, () => ctx.prisma.$transaction(store))
    return created('/api/v1/scheduler/subscriptions', presentSubscription(row))
  },
})

type NewSubscription = Omit<Prisma.SubscriptionUncheckedCreateInput, 'id' | 'workspaceId'>

/**
 * Stores a subscription, and records it in the audit log.
 * @throws AppError `conflict` when the workspace has as many subscriptions as it may.
 */
export async function insertSubscription(
  tx: PrismaTransaction,
  caller: Allowed<'subscription.write'>,
  data: NewSubscription,
): Promise<SubscriptionRow> {
  const { workspaceId } = caller
  await lockSubscriptions(tx, caller)
  if ((await tx.subscription.count({ where: { workspaceId } })) >= maxInWorkspace) {
    throw new AppError('conflict', `A workspace has at most ${maxInWorkspace} subscriptions. Delete one first.`)
  }
  const id = newUuid()
  const { topic, active } = data
  await audit(tx, caller, 'subscription.created', toId('sub', id), { topic, active })
  return tx.subscription.create({ data: { id, workspaceId, ...data, createdBy: authorOf(caller) } })
}

/** Waits for concurrent creations in the workspace, so a count of its subscriptions stays true until the commit. */
export async function lockSubscriptions(tx: PrismaTransaction, { workspaceId }: Allowed): Promise<void> {
  await tx.$queryRaw`SELECT id FROM workspaces WHERE id = ${workspaceId}::uuid FOR NO KEY UPDATE`
}

export const listSubscriptions = endpoint(operations.listSubscriptions, async (ctx, { caller, query }) => {
  const { workspaceId } = caller
  const find = ({ before, take }: PageRows) =>
    ctx.prisma.subscription.findMany({ where: { workspaceId, id: before }, orderBy: { id: 'desc' }, take })
  return readPage(`subscriptions:${workspaceId}`, query, find, presentSubscription)
})

export const getSubscription = endpoint(operations.getSubscription, readSubscription)

export const updateSubscription = endpoint(operations.updateSubscription, {
  inspect: (ctx, body) => inspectRequest(ctx, body),
  async handle(ctx, input) {
    const { caller, params, body, bodyText } = input
    const { workspaceId } = caller
    const change = given({
      key: body.key,
      topic: body.topic,
      filter: body.filter && toStoredFilter(body.filter),
      ...(body.active === undefined ? {} : { active: body.active, pausedReason: null }),
      ...(body.active === true ? { failingSince: null, failingWarnedAt: null } : {}),
      ...toRequestChange(body, bodyText),
      maxAgeMs: body.max_age_ms,
      labels: body.labels,
    })
    if (isEmpty(change)) return readSubscription(ctx, input)
    requireReader(caller, 'subscription.read', change)
    await requireSecretUse(ctx.pool, caller, [change], () =>
      ctx.prisma.subscription.findFirst({ where: { id: params.sub, workspaceId } }),
    )
    const store = async (tx: PrismaTransaction) => {
      await nameQueue(tx, caller, body.queue)
      const data =
        change.callbacks === undefined
          ? change
          : { ...change, callbacks: await changedCallbacks(tx, params.sub, change.callbacks) }
      const [changed] = await tx.subscription.updateManyAndReturn({ where: { id: params.sub, workspaceId }, data })
      if (!changed) throw notFound()
      if (changed.mcp !== null) throw new AppError('conflict', ofMcpClient)
      // A URL or a header may hold a secret, so the record has the names of the changed fields and not their values.
      const details = { topic: changed.topic, fields: Object.keys(body).sort() }
      await audit(tx, caller, 'subscription.changed', toId('sub', changed.id), details)
      return changed
    }
    const row = await refuseUsedKey(body.key, () => ctx.prisma.$transaction(store))
    return presentSubscription(row)
  },
})

export const deleteSubscription = endpoint(operations.deleteSubscription, async (ctx, { caller, params }) => {
  const text = 'DELETE FROM subscriptions WHERE id = $1 AND workspace_id = $2 RETURNING topic'
  await inTransaction(ctx.pool, async tx => {
    const { rows } = await tx.query<{ topic: string }>(text, [params.sub, caller.workspaceId])
    if (!rows[0]) throw notFound()
    await audit(tx, caller, 'subscription.deleted', toId('sub', params.sub), { topic: rows[0].topic })
  })
})

const ofMcpClient = 'An MCP client has made this subscription and renews it. Delete it to end it.'

export function toStoredFilter(filter: readonly Condition[]): string | null {
  return filter.length === 0 ? null : JSON.stringify(filter)
}

async function nameQueue(tx: PrismaTransaction, caller: Allowed, queue: QueueField | null | undefined) {
  const db = dbOf(tx)
  await nameQueues(db, caller, await planQueues(db, caller, [queue]))
}

// The lock keeps a concurrent change of another callback.
async function changedCallbacks(tx: PrismaTransaction, id: string, change: string): Promise<string | null> {
  const [row] = await tx.$queryRaw<Array<{ callbacks: string | null }>>`
    SELECT callbacks FROM subscriptions WHERE id = ${id}::uuid FOR UPDATE`
  return mergeCallbacks(row?.callbacks, change)
}

type OfSubscription = { caller: Allowed<'subscription.read' | 'subscription.write'>; params: { sub: string } }

async function readSubscription({ prisma }: Context, { caller, params }: OfSubscription): Promise<Subscription | null> {
  const { workspaceId } = caller
  const row = await prisma.subscription.findFirst({ where: { id: params.sub, workspaceId } })
  return row && presentSubscription(row)
}

/** What makes a subscription one of an MCP client. */
export type StoredMcp = {
  /** The type of the events. */
  name: string
  arguments: Record<string, unknown>
  /** Who subscribed at another MCP server; null for the API key that created it. */
  principal: string | null
  /** The columns that a task must have for an event about it; null for other events. */
  match: Record<string, unknown> | null
  /** Whether the task of a reminder was made. A user may have cancelled it. */
  isSet?: true
}

function presentSubscription(row: SubscriptionRow): Subscription {
  const mcp = row.mcp as StoredMcp | null
  return {
    id: toId('sub', row.id),
    workspace_id: toId('ws', row.workspaceId),
    key: row.key,
    topic: row.topic,
    url: row.url,
    filter: row.filter === null ? [] : JSON.parse(row.filter),
    headers: JSON.parse(row.headers),
    retry: presentRetry(row),
    timeout_ms: row.timeoutMs,
    queue: row.queue ?? null,
    connection: row.connection ?? null,
    ...presentCallbacks(row.callbacks),
    max_age_ms: row.maxAgeMs,
    labels: row.labels,
    active: row.active && row.pausedReason === null,
    failing_since: row.failingSince?.toISOString() ?? null,
    paused_reason: row.pausedReason === null ? null : 'failing',
    expires_at: row.expiresAt?.toISOString() ?? null,
    mcp: mcp && { name: mcp.name, arguments: mcp.arguments, principal: mcp.principal },
    created_by: row.createdBy,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  }
}
