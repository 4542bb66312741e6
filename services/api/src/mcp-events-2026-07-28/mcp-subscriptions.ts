import { createHash } from 'node:crypto'
import type { Subscription as SubscriptionRow } from '@belfry/db/generated/client'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { maxSigningSecrets, readSubscriptionSecrets, rotateSigningSecret } from '@belfry/db/secrets/signing-secrets'
import { AppError, type FieldError, notFound } from '@belfry/domain/app-error'
import { toId } from '@belfry/domain/id'
import { parseUrl } from '@belfry/domain/target-url'
import { z } from 'zod'
import { audit } from '../audit/audit.ts'
import { type Allowed, authorOf } from '../auth/authorize.ts'
import { consumeOne } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { refuseUsedKey } from '../http/errors.ts'
import { inspectTarget } from '../http/inspect-target.ts'
import {
  insertSubscription,
  lockSubscriptions,
  type StoredMcp,
  toStoredFilter,
} from '../subscriptions/subscriptions.ts'
import { type ChosenEvents, chooseEvents, invalidArgument } from './chosen-events.ts'
import { readDeliveryStatus } from './delivery-status.ts'
import type { Caller } from './delivery-task.ts'
import { setReminder } from './set-reminder.ts'
import { type SubscribeBody, subscribeBody, type UnsubscribeBody, unsubscribeBody } from './subscription-body.ts'
import { verifyCallback } from './verify-callback.ts'

const subscribing = {
  right: 'subscription.write',
  summary: 'Create or renew the subscription of an MCP client',
  body: subscribeBody,
  response: { status: 200, body: z.custom<Awaited<ReturnType<typeof present>>>() },
} as const

const subscribe = endpoint(subscribing, {
  inspect: (ctx, body) => [...inspectTarget(ctx, body), ...inspectScheme(body)],
  async handle(ctx, { caller, body, request }) {
    const events = chooseEvents(ctx, caller, body)
    const by = { caller: caller as Allowed as Caller['caller'], request } // chooseEvents has checked the rights that it needs
    const endsAt = endOf(ctx, caller, body)
    const found = await find(ctx, caller, body)
    const row = found ?? (await create(ctx, caller, body, events))
    await putSecret(ctx, row, body.secret)
    if (!row.active) await verifyOnce(ctx, by, row)
    const active = await activate(ctx, caller, row, { ...events, endsAt })
    // After the renewal: a sweep of ended subscriptions cannot delete it in between.
    if (events.schedule) await setReminder(ctx, by, active, events.schedule)
    return present(ctx, active)
  },
})

const unsubscribing = {
  right: 'subscription.write',
  summary: 'End the subscription of an MCP client',
  body: unsubscribeBody,
  response: { status: 204 },
} as const

const unsubscribe = endpoint(unsubscribing, async (ctx, { caller, body }) => {
  const row = await find(ctx, caller, body)
  if (!row) throw notFound()
  await ctx.prisma.$transaction(async tx => {
    // A trigger cancels the tasks that wait, and tells the client of an active subscription its end.
    await tx.subscription.updateMany({ where: { id: row.id }, data: { active: false } })
    const { count } = await tx.subscription.deleteMany({ where: { id: row.id } })
    if (count === 0) throw notFound()
    const by = { ...caller, right: null }
    await audit(tx, by, 'subscription.deleted', toId('sub', row.id), { topic: row.topic })
  })
})

/** The endpoints of this draft. The reference does not list them. */
export const mcpRoutes = {
  '/api/v1/mcp-subscriptions': { post: subscribe },
  '/api/v1/mcp-subscriptions/unsubscribe': { post: unsubscribe },
}

// The secret and the events would be readable on the way. A test on one machine has no certificate.
function inspectScheme(body: unknown): FieldError[] {
  const url = parseUrl(String(Object(body).url))
  if (url?.protocol !== 'http:' || /^(127(\.\d+){3}|\[::1\])$/.test(url.hostname)) return []
  return [{ path: 'url', code: 'invalid_url', message: 'url must start with https://.' }]
}

const minuteMs = 60_000
const dayMs = 86_400_000

// A key ends its subscriptions when it ends. A session does not, so its rights are checked again every hour.
function endOf(ctx: Context, { apiKeyId }: Allowed, { ttl_ms: asked }: SubscribeBody): Date | null {
  const maxMs = apiKeyId === null ? 60 * minuteMs : 30 * dayMs
  const lastsForever = asked === null && apiKeyId !== null
  const ttlMs = Math.min(Math.max(asked ?? (asked === null ? maxMs : dayMs), minuteMs), maxMs)
  return lastsForever ? null : new Date(ctx.clock.now() + ttlMs)
}

// Another principal, another callback or other arguments make another subscription.
function idOf(caller: Allowed, { principal, name, arguments: given, url }: UnsubscribeBody): string {
  const subscriber = principal === undefined ? authorOf(caller) : [principal]
  const text = JSON.stringify([subscriber, url, name, sorted(given)])
  return `mcp_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value !== 'object' || value === null) return value
  const members = Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1))
  return members.map(([name, member]) => [name, sorted(member)])
}

async function find(ctx: Context, caller: Allowed, body: UnsubscribeBody): Promise<SubscriptionRow | null> {
  const row = await ctx.prisma.subscription.findFirst({
    where: { workspaceId: caller.workspaceId, key: idOf(caller, body) },
  })
  return row?.mcp ? row : null
}

const maxOfPrincipal = 100
// As long as a receiver may be down: 10 retries within about a day.
const retries = { maxRetries: 10, backoff: 'exponential', baseDelayMs: 5_000, maxDelayMs: 6 * 3_600_000 } as const

// It is not active before its callback is verified.
async function create(
  ctx: Context,
  caller: Allowed<'subscription.write'>,
  body: SubscribeBody,
  { topic, filter, match, schedule }: ChosenEvents,
): Promise<SubscriptionRow> {
  if (schedule?.at && schedule.at.getTime() <= ctx.clock.now()) {
    throw invalidArgument('arguments.at', 'not_future', 'must be later than now.')
  }
  const { workspaceId } = caller
  const { name, arguments: given, principal = null, url } = body
  const key = idOf(caller, body)
  const mcp: StoredMcp = { name, arguments: given, principal, match }
  return refuseUsedKey(key, () =>
    ctx.prisma.$transaction(async tx => {
      await lockSubscriptions(tx, caller)
      const [{ count } = { count: 0 }] = await tx.$queryRaw<Array<{ count: number }>>`
        SELECT count(*)::int FROM subscriptions
        WHERE workspace_id = ${workspaceId}::uuid AND mcp IS NOT NULL AND (expires_at IS NULL OR expires_at > now())
          AND coalesce(mcp ->> 'principal', created_by) = ${principal ?? authorOf(caller)}`
      if (count >= maxOfPrincipal) {
        const message = `A principal has at most ${maxOfPrincipal} subscriptions. End one first.`
        throw new AppError('conflict', message, { extra: { limit: 'subscriptions', max: maxOfPrincipal } })
      }
      return insertSubscription(tx, caller, {
        ...{ key, topic, filter: toStoredFilter(filter), active: false },
        ...{ url, headers: JSON.stringify({ 'X-MCP-Subscription-Id': key }), ...retries, timeoutMs: 30_000 },
        ...{ labels: [key], mcp: mcp as object, expiresAt: new Date(ctx.clock.now() + minuteMs) },
      })
    }),
  )
}

// While a secret changes, both sign.
async function putSecret(ctx: Context, { id: subscriptionId, workspaceId }: SubscriptionRow, secret: string) {
  const { masterKeys } = ctx.config
  const [current] = (await readSubscriptionSecrets(ctx.pool, masterKeys, [subscriptionId])).get(subscriptionId) ?? []
  if (current?.value === secret) return
  const owner = { workspaceId, subscriptionId }
  const result = await rotateSigningSecret(ctx.pool, masterKeys, owner, undefined, secret)
  if (result === null) throw notFound()
  if (result === 'full') throw new AppError('conflict', `${maxSigningSecrets} secrets sign already: renew it later.`)
}

// Another subscription of the principal may have verified the callback.
async function verifyOnce(ctx: Context, by: Caller, row: SubscriptionRow): Promise<void> {
  const { principal } = row.mcp as StoredMcp
  const { rowCount } = await ctx.pool.query(
    `SELECT FROM subscriptions WHERE workspace_id = $1 AND url = $2 AND active AND mcp IS NOT NULL
       AND (expires_at IS NULL OR expires_at > now()) AND created_by = $3 AND mcp ->> 'principal' IS NOT DISTINCT FROM $4`,
    [row.workspaceId, row.url, row.createdBy, principal],
  )
  if (rowCount !== 0) return
  try {
    const whose = [row.workspaceId, principal ?? row.createdBy, new URL(row.url).host]
    const attempt = await consumeOne(ctx, 'challenges', JSON.stringify(whose))
    await verifyCallback(ctx, by, row)
    await attempt.refund() // it wants the calls
  } catch (error) {
    await ctx.prisma.subscription.deleteMany({ where: { id: row.id, active: false } })
    throw error
  }
}

// A renewed subscription ends with the key that has renewed it. Another server may have changed what its arguments stand for.
async function activate(
  ctx: Context,
  caller: Allowed,
  { id }: SubscriptionRow,
  { topic, filter, endsAt }: ChosenEvents & { endsAt: Date | null },
): Promise<SubscriptionRow> {
  const chosen = { topic, filter: toStoredFilter(filter), createdBy: authorOf(caller) }
  const health = { pausedReason: null, failingSince: null, failingWarnedAt: null }
  return ctx.prisma.$transaction(async tx => {
    const keyEndsAt = caller.apiKeyId === null ? null : await lockKey(tx, caller.apiKeyId)
    const expiresAt = endsAt === null || (keyEndsAt !== null && keyEndsAt < endsAt) ? keyEndsAt : endsAt
    const data = { active: true, expiresAt, ...chosen, ...health }
    const [row] = await tx.subscription.updateManyAndReturn({ where: { id }, data })
    if (!row) throw notFound()
    return row
  })
}

// Past the cache of keys. A revocation waits for the commit, and then finds the subscription that it ends.
async function lockKey(tx: PrismaTransaction, keyId: string): Promise<Date | null> {
  const [key] = await tx.$queryRaw<Array<{ expiresAt: Date | null }>>`
    SELECT expires_at AS "expiresAt" FROM api_keys
    WHERE id = ${keyId}::uuid AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > clock_timestamp())
    FOR SHARE`
  if (!key) throw new AppError('unauthenticated', 'The API key has expired or was revoked.')
  return key.expiresAt
}

// A subscription as its client sees it.
async function present(ctx: Context, row: SubscriptionRow) {
  return {
    id: String(row.key),
    subscription_id: toId('sub', row.id),
    // When it ends unless it is renewed; null for never.
    refresh_before: row.expiresAt?.toISOString() ?? null,
    delivery_status: await readDeliveryStatus(ctx.pool, row),
  }
}
