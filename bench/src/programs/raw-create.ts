// A hand-written server that creates tasks as Belfry does: node:http with the same checks, statement and answer. It has no
// router, no schemas, no request ids and no log. It takes only the fields that the load sends, and reports one problem
// where Belfry reports all.
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { openPool } from '@belfry/db/postgres/pool'
import { insertTasks, type NewTask } from '@belfry/db/tasks/insert-tasks'
import { readUsage } from '@belfry/db/usage/read-usage'
import { hostIsVisiblyBlocked, parseCidrs } from '@belfry/domain/address'
import { newUuid, toId } from '@belfry/domain/id'
import { parseInstant } from '@belfry/domain/instant'
import { findUnstorable, inspectJson, memberText } from '@belfry/domain/json-text'
import { retryDefaults } from '@belfry/domain/retry'
import { findBrokenReference } from '@belfry/domain/secrets/secret-reference'
import { checkTargetUrl } from '@belfry/domain/target-url'
import { defaultTiers } from '@belfry/domain/tiers'
import { microBatch } from '@belfry/runtime'
import { parentSaysGo, startAsChild } from '../lab/child-side.ts'

export type RawCreateOptions = { databaseUrl: string; port: number }

const options = startAsChild<RawCreateOptions>()
const pool = openPool(options.databaseUrl, { max: 10, onError: error => console.error(error) })
const insert = microBatch<NewTask, { id: string; createdAt: Date | null } | undefined>({
  maxSize: 100,
  maxInFlight: 2,
  run: async tasks => {
    const rows = new Map((await insertTasks(pool, tasks)).map(row => [row.id, row]))
    return tasks.map(({ id }) => rows.get(id))
  },
  split: () => true,
})

/** A request that gets another answer than 201. */
class Refused extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const server = createServer(async (request, response) => {
  try {
    if (request.method !== 'POST' || request.url !== '/api/v1/scheduler/tasks') throw new Refused(404, 'not found')
    const caller = await findCaller(String(request.headers['x-api-key']))
    const headers = countRequest(caller)
    const task = readTask(await readBody(request))
    if (await isOverQuota(caller.organizationId)) throw new Refused(402, 'storage quota exceeded')
    await store(caller, task, response, headers)
  } catch (error) {
    const { status, message } = error instanceof Refused ? error : new Refused(500, String(error))
    answer(response, status, JSON.stringify({ error: message }), {})
  }
})

type Caller = { keyId: string; workspaceId: string; organizationId: string; left: number; at: number; until: number }

// Belfry caches both for as long. No benchmark uses up the rate limit.
const keyCachedMs = 5_000
const usageCachedMs = 2_000
const requestsPerSecond = 1_000_000
const callers = new Map<string, Caller>()

async function findCaller(key: string): Promise<Caller> {
  const hash = createHash('sha256').update(key).digest('base64')
  const known = callers.get(hash)
  if (known && known.until > performance.now()) return known
  const text = `
    SELECT api_keys.id AS "keyId", workspace_id AS "workspaceId", organization_id AS "organizationId"
    FROM api_keys JOIN workspaces w ON w.id = workspace_id
    WHERE hash = $1 AND revoked_at IS NULL AND deleted_at IS NULL AND (expires_at IS NULL OR expires_at > now())`
  const values = [Buffer.from(hash, 'base64')]
  const { rows } = await pool.query<Caller>({ name: 'find_api_key', text, values })
  const [row] = rows
  if (!row) throw new Refused(401, 'unknown key')
  const now = performance.now()
  const caller = { ...row, left: known?.left ?? requestsPerSecond, at: known?.at ?? now, until: now + keyCachedMs }
  callers.set(hash, caller)
  return caller
}

function countRequest(caller: Caller): Record<string, string> {
  const now = performance.now()
  caller.left = Math.min(requestsPerSecond, caller.left + ((now - caller.at) / 1000) * requestsPerSecond) - 1
  caller.at = now
  if (caller.left < 0) throw new Refused(429, 'too many requests')
  return {
    'RateLimit-Policy': `"key";q=${requestsPerSecond};w=1`,
    RateLimit: `"key";r=${Math.floor(caller.left)};t=1`,
  }
}

const usages = new Map<string, { isOver: Promise<boolean>; until: number }>()

function isOverQuota(organizationId: string): Promise<boolean> {
  const known = usages.get(organizationId)
  if (known && known.until > performance.now()) return known.isOver
  const isOver = readUsage(pool, organizationId).then(usage => {
    return !usage || usage.storageBytes > defaultTiers[usage.tier].storageBytes
  })
  usages.set(organizationId, { isOver, until: performance.now() + usageCachedMs })
  return isOver
}

async function store(
  { keyId, workspaceId }: Caller,
  task: CheckedTask,
  response: ServerResponse,
  more: Record<string, string>,
) {
  const { name, url, method, executeAt, payload } = task
  const { maxRetries, backoff, baseDelayMs, maxDelayMs } = retryDefaults
  const id = newUuid()
  const inserted = await insert({
    id,
    workspaceId,
    source: 'task',
    executeAt,
    name,
    url,
    method,
    headers: '{}',
    payload: payload ?? null,
    maxRetries,
    backoff,
    baseDelayMs,
    maxDelayMs,
    timeoutMs,
    topic: null,
    eventId: null,
    replayOf: null,
    createdBy: toId('key', keyId),
  })
  if (!inserted?.createdAt) throw new Refused(400, 'execute_at is past')
  const createdAt = inserted.createdAt.toISOString()
  const publicId = toId('task', id)
  // The members and their order are those of Belfry's task.
  const beforePayload = JSON.stringify({
    id: publicId,
    workspace_id: toId('ws', workspaceId),
    name,
    source: 'task',
    cronjob_id: null,
    event_id: null,
    topic: null,
    url,
    method,
    headers: {},
  })
  const afterPayload = JSON.stringify({
    payload_base64: null,
    content_type: null,
    queue: null,
    connection: null,
    execute_at: executeAt.toISOString(),
    state: 'pending',
    state_reason: null,
    attempts: 0,
    blocked: null,
    retry: { max_retries: maxRetries, backoff, base_delay_ms: baseDelayMs, max_delay_ms: maxDelayMs },
    timeout_ms: timeoutMs,
    on_success: null,
    on_failure: null,
    on_attempt: null,
    expires_at: null,
    key: null,
    labels: [],
    next_retry_at: null,
    last_run: null,
    callback_of: null,
    replay_of: null,
    created_by: toId('key', keyId),
    updated_by: null,
    created_at: createdAt,
    updated_at: createdAt,
    finished_at: null,
  })
  const text = `${beforePayload.slice(0, -1)},"payload":${payload ?? 'null'},${afterPayload.slice(1)}`
  more.Location = `/api/v1/scheduler/tasks/${publicId}`
  answer(response, 201, text, more)
}

function answer(response: ServerResponse, status: number, text: string, headers: Record<string, string>): void {
  headers['Content-Type'] = 'application/json'
  headers['Content-Length'] = String(Buffer.byteLength(text))
  response.writeHead(status, headers).end(text)
}

/** The fields of a body, all of them checked. */
type CheckedTask = { name: string; url: string; method: string; executeAt: Date; payload: string | undefined }

const limits = { maxDepth: 32, maxKeys: 10_000 }
const fields = new Set(['name', 'url', 'method', 'payload', 'execute_at'])
const methods = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
const maxExecuteAt = Date.UTC(2100, 0)
const allowedPrivate = parseCidrs('127.0.0.0/8')
const timeoutMs = 30_000

function readTask(bytes: Buffer): CheckedTask {
  check(isUtf8(bytes), 'encoding')
  const text = bytes.toString()
  const inspected = inspectJson(text, limits)
  if (!inspected.ok) throw new Refused(400, inspected.reason)
  check(findUnstorable(text) === null, 'text')
  const body = inspected.value as Record<string, unknown>
  check(typeof body === 'object' && body !== null && !Array.isArray(body), 'body')
  for (const field in body) check(fields.has(field), field)
  const { name, url, method, execute_at: at } = body
  check(typeof name === 'string' && name !== '' && [...name].length <= 200 && !/[\p{Cc}\p{Cs}]/u.test(name), 'name')
  check(typeof url === 'string' && checkTargetUrl(url) === null, 'url')
  check(!hostIsVisiblyBlocked(new URL(url).hostname, allowedPrivate), 'url')
  check(typeof method === 'string' && methods.has(method), 'method')
  check(!hasBrokenReference(body.payload), 'payload')
  const executeAt = typeof at === 'string' ? parseInstant(at) : null
  check(executeAt !== null && executeAt.getTime() < maxExecuteAt, 'execute_at')
  return { name, url, method, executeAt, payload: memberText(text, ['payload']) }
}

function hasBrokenReference(value: unknown): boolean {
  if (typeof value === 'string') return findBrokenReference(value) !== null
  if (typeof value !== 'object' || value === null) return false
  for (const name in value) if (hasBrokenReference((value as Record<string, unknown>)[name])) return true
  return false
}

function check(condition: boolean, what: string): asserts condition {
  if (!condition) throw new Refused(400, `${what} is not valid`)
}

const maxBytes = 256 * 1024

async function readBody(request: IncomingMessage): Promise<Buffer> {
  if (!/^application\/json\b/.test(request.headers['content-type'] ?? '')) throw new Refused(415, 'send JSON')
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > maxBytes) throw new Refused(413, 'too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

server.listen(options.port, '127.0.0.1')
await parentSaysGo()
