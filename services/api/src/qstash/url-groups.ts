import { type Db, inTransaction } from '@belfry/db/postgres/in-transaction'
import { newUuid, toId } from '@belfry/domain/id'
import { isTopic } from '@belfry/domain/topic'
import { audit } from '../audit/audit.ts'
import { requireReader, requireRight } from '../auth/authorize.ts'
import { requireSecretUse, type Written } from '../secrets/require-secret-use.ts'
import { type Call, on, type QstashRoutes, readJson } from './call.ts'
import { checkUrl } from './publish/message-task.ts'
import { badRequest, QstashError, refuseUnstorable } from './qstash-error.ts'

// The endpoints of a URL group are the subscriptions to the topic of its name, except subscriptions of MCP clients:
// their callbacks are verified, and their clients end them.
type Endpoint = { name: string | null; url: string }

export const urlGroupRoutes: QstashRoutes = [
  ['/topics', { get: on('subscription.read', call => readGroups(call, null)) }],
  [
    '/topics/:name',
    {
      get: on('subscription.read', async call => (await readGroups(call, call.name))[0] ?? null),
      delete: on('subscription.delete', async call => ((await remove(call.ctx.pool, call)) === 0 ? null : undefined)),
    },
  ],
  [
    '/topics/:name/endpoints',
    { post: on('subscription.write', addEndpoints), delete: on('subscription.delete', removeEndpoints) },
  ],
]

const maxInWorkspace = 1_000
const maxNameLength = 200

async function addEndpoints(call: Call<'subscription.write'>): Promise<void> {
  const { ctx, caller, name: group } = call
  if (!isTopic(group)) throw badRequest('invalid url group name: use up to 200 letters, digits and . _ -')
  const endpoints = readEndpoints(await readJson(call))
  if (endpoints.length > maxInWorkspace) throw tooMany()
  for (const { url } of endpoints) {
    if (url === undefined) throw badRequest('an endpoint has no url')
    checkUrl(ctx, url)
  }
  await inTransaction(ctx.pool, async tx => {
    await tx.query('SELECT FROM workspaces WHERE id = $1 FOR NO KEY UPDATE', [caller.workspaceId])
    // A name and a URL find the same endpoint, and an earlier part of the request may have named or moved it.
    const kept = `
      SELECT headers, callbacks FROM subscriptions
      WHERE workspace_id = $1 AND topic = $2 AND (endpoint_name = ANY ($3) OR url = ANY ($4)) AND mcp IS NULL`
    const names = endpoints.flatMap(({ name }) => name ?? [])
    const urls = names.length === 0 ? [] : endpoints.map(({ url }) => url) // only a name moves an endpoint
    const { rows } = await tx.query<Written>(kept, [caller.workspaceId, group, names, urls])
    for (const { callbacks } of rows) requireReader(caller, 'subscription.read', { url: urls[0], callbacks })
    await requireSecretUse(tx, caller, [...endpoints, ...rows])
    for (const { name, url = '' } of endpoints) {
      const id = await upsert(tx, call, { name: name ?? null, url })
      await audit(tx, caller, 'subscription.changed', toId('sub', id), { topic: group })
    }
    const counted = await tx.query<{ n: number }>(
      'SELECT count(*)::int AS n FROM subscriptions WHERE workspace_id = $1',
      [caller.workspaceId],
    )
    if ((counted.rows[0]?.n ?? 0) > maxInWorkspace) throw tooMany()
  })
}

// By name or by URL.
async function removeEndpoints(call: Call<'subscription.delete'>): Promise<void> {
  const endpoints = readEndpoints(await readJson(call))
  const names = endpoints.flatMap(({ name }) => name ?? [])
  const urls = endpoints.flatMap(({ name, url }) => (name === undefined && url !== undefined ? [url] : []))
  await remove(call.ctx.pool, call, 'AND (endpoint_name = ANY ($3::text[]) OR url = ANY ($4::text[]))', [names, urls])
}

function tooMany(): QstashError {
  return new QstashError(412, `a workspace has at most ${maxInWorkspace} endpoints and subscriptions`)
}

function readEndpoints(body: unknown): Array<{ name?: string; url?: string }> {
  const { endpoints } = Object(body) as { endpoints?: unknown }
  if (!Array.isArray(endpoints) || endpoints.length === 0) throw badRequest('the body has no endpoints')
  return endpoints.map(endpoint => {
    const { name, url } = Object(endpoint) as Record<string, unknown>
    if (typeof name !== 'string' && typeof url !== 'string')
      throw badRequest('an endpoint has neither a name nor a url')
    const given = { ...(typeof name === 'string' && name !== '' && { name }), ...(typeof url === 'string' && { url }) }
    refuseUnstorable(given)
    if (given.name && given.name.length > maxNameLength)
      throw badRequest(`the name of an endpoint has more than ${maxNameLength} characters`)
    return given
  })
}

// An endpoint with the name, or else with the URL, is replaced. A name that moves to the URL of another endpoint replaces
// that one too: the URL would get each message twice. QStash has no filters, so a subscription with one stays.
async function upsert(tx: Db, call: Call<'subscription.write'>, { name, url }: Endpoint): Promise<string> {
  const [workspaceId, group] = [call.caller.workspaceId, call.name]
  const moves = `
    AND url = $4 AND filter IS NULL AND EXISTS (
      SELECT FROM subscriptions n
      WHERE n.workspace_id = $1 AND n.topic = $2 AND n.endpoint_name = $3 AND n.url <> $4 AND n.mcp IS NULL
    )`
  if (name !== null) await remove(tx, call, moves, [name, url])
  const change = `
    UPDATE subscriptions SET url = $4, endpoint_name = coalesce($3, endpoint_name), updated_at = now()
    WHERE workspace_id = $1 AND id = (
      SELECT id FROM subscriptions WHERE workspace_id = $1 AND topic = $2 AND (endpoint_name = $3 OR url = $4) AND mcp IS NULL
      ORDER BY endpoint_name = $3 DESC NULLS LAST, id LIMIT 1
    ) RETURNING id`
  const [changed] = await rowsOf(tx, change, [workspaceId, group, name, url])
  if (changed) return changed
  const insert = `
    INSERT INTO subscriptions (id, workspace_id, topic, endpoint_name, url, active, max_retries, backoff, base_delay_ms,
                               max_delay_ms, timeout_ms, updated_at)
    VALUES ($5, $1, $2, $3, $4, true, 3, 'exponential', 10000, 3600000, 300000, now()) RETURNING id`
  const [inserted = ''] = await rowsOf(tx, insert, [workspaceId, group, name, url, newUuid()])
  return inserted
}

function remove(db: Db, { caller, name: topic }: Call, condition = '', values: unknown[] = []) {
  const text = `DELETE FROM subscriptions WHERE workspace_id = $1 AND topic = $2 AND mcp IS NULL ${condition} RETURNING id`
  return inTransaction(db, async tx => {
    const ids = await rowsOf(tx, text, [caller.workspaceId, topic, ...values])
    for (const id of ids)
      await audit(tx, requireRight(caller, 'subscription.delete'), 'subscription.deleted', toId('sub', id), { topic })
    return ids.length
  })
}

async function rowsOf(db: Db, text: string, values: unknown[]): Promise<string[]> {
  return (await db.query<{ id: string }>(text, values)).rows.map(({ id }) => id)
}

type GroupRow = { name: string; createdAt: Date; updatedAt: Date; endpoints: Endpoint[] }

// A pattern such as `orders.*` is not a group: no message can be published to it.
async function readGroups({ ctx, caller }: Call<'subscription.read'>, name: string | null) {
  const text = `
    SELECT topic AS name, min(created_at) AS "createdAt", max(updated_at) AS "updatedAt",
           json_agg(json_build_object('name', endpoint_name, 'url', url) ORDER BY id) AS endpoints
    FROM subscriptions WHERE workspace_id = $1 AND active AND paused_reason IS NULL AND ($2::text IS NULL OR topic = $2) AND topic NOT LIKE '%*' AND mcp IS NULL
    GROUP BY topic ORDER BY topic`
  const { rows } = await ctx.pool.query<GroupRow>(text, [caller.workspaceId, name])
  return rows.map(({ name, createdAt, updatedAt, endpoints }) => ({
    name,
    createdAt: createdAt.getTime(),
    updatedAt: updatedAt.getTime(),
    endpoints: endpoints.map(({ name, url }) => (name === null ? { url } : { name, url })),
  }))
}
