// A hand-written server that creates tasks as Belfry does: node:http with the same checks, statement and answer. It has no
// router, no schemas, no request ids and no log. It takes only the fields that the load sends, and reports one problem
// where Belfry reports all.
import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { buffer } from 'node:stream/consumers'
import { insertTasks, type NewTask, openPool, readUsage } from '@belfry/db'
import {
  checkTargetUrl,
  defaultTiers,
  exhaustedQuotas,
  findBrokenReference,
  findUnstorable,
  hostIsVisiblyBlocked,
  inspectJson,
  memberText,
  newUuid,
  parseCidrs,
  parseInstant,
  retryDefaults,
  toId,
} from '@belfry/domain'
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

const path = '/api/v1/scheduler/tasks'

const server = createServer(async (request, response) => {
  try {
    check(request.method === 'POST' && request.url === path, 'path', 404)
    const caller = await findCaller(String(request.headers['x-api-key']))
    const headers: Record<string, string> = { ...countRequest(caller), 'Content-Type': 'application/json' }
    const task = await readTask(request)
    check(!(await isOverQuota(caller.organizationId)), 'storage quota', 402)
    const { id, text } = await store(caller.workspaceId, task)
    headers.Location = `${path}/${id}`
    headers['Content-Length'] = String(Buffer.byteLength(text))
    response.writeHead(201, headers).end(text)
  } catch (error) {
    const { status = 500, message } = error as Error & { status?: number } // as check throws it, or another error
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify({ error: message }))
  }
})

function check(condition: boolean, what: string, status = 400): asserts condition {
  if (!condition) throw Object.assign(new Error(`${what} is refused`), { status })
}

type Caller = { workspaceId: string; organizationId: string; left: number; at: number; until: number }

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
    SELECT workspace_id AS "workspaceId", organization_id AS "organizationId"
    FROM api_keys JOIN workspaces w ON w.id = workspace_id
    WHERE hash = $1 AND revoked_at IS NULL AND deleted_at IS NULL AND (expires_at IS NULL OR expires_at > now())`
  const values = [Buffer.from(hash, 'base64')]
  const [row] = (await pool.query<Caller>({ name: 'find_api_key', text, values })).rows
  check(row !== undefined, 'key', 401)
  const now = performance.now()
  const caller = { ...row, left: known?.left ?? requestsPerSecond, at: known?.at ?? now, until: now + keyCachedMs }
  callers.set(hash, caller)
  return caller
}

function countRequest(caller: Caller): Record<string, string> {
  const now = performance.now()
  caller.left = Math.min(requestsPerSecond, caller.left + ((now - caller.at) / 1000) * requestsPerSecond) - 1
  caller.at = now
  check(caller.left >= 0, 'rate', 429)
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
    if (!usage) return true
    const limits = defaultTiers[usage.tier]
    return exhaustedQuotas({
      executions: { used: usage.executions, limit: limits.executions },
      storageBytes: { used: usage.storageBytes, limit: limits.storageBytes },
    }).includes('storage')
  })
  usages.set(organizationId, { isOver, until: performance.now() + usageCachedMs })
  return isOver
}

// A body without options gets these.
const { maxRetries, backoff, baseDelayMs, maxDelayMs } = retryDefaults
const timeoutMs = 30_000
const none = { topic: null, eventId: null, replayOf: null }
const stored = { source: 'task' as const, headers: '{}', ...retryDefaults, timeoutMs, ...none }
const answered = {
  source: 'task',
  cronjob_id: null,
  event_id: null,
  topic: null,
  headers: {},
  state: 'pending',
  attempts: 0,
  state_reason: null,
  next_retry_at: null,
  last_run: null,
  replay_of: null,
  finished_at: null,
  retry: { max_retries: maxRetries, backoff, base_delay_ms: baseDelayMs, max_delay_ms: maxDelayMs },
  timeout_ms: timeoutMs,
}

async function store(workspaceId: string, { payload, ...task }: Task): Promise<{ id: string; text: string }> {
  const { name, url, method, executeAt } = task
  const uuid = newUuid()
  const inserted = await insert({ ...stored, ...task, id: uuid, workspaceId, payload: payload ?? null })
  check(inserted?.createdAt != null, 'execute_at')
  const id = toId('task', uuid)
  const times = { execute_at: executeAt, created_at: inserted.createdAt, updated_at: inserted.createdAt }
  const head = JSON.stringify({ ...answered, id, workspace_id: toId('ws', workspaceId), name, url, method, ...times })
  return { id, text: `${head.slice(0, -1)},"payload":${payload ?? 'null'}}` }
}

/** The fields of a body, all of them checked. */
type Task = Pick<NewTask, 'name' | 'url' | 'method'> & { executeAt: Date; payload: string | undefined }

const fields = new Set(['name', 'url', 'method', 'payload', 'execute_at'])
const methods = new Set<unknown>(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])
const allowedPrivate = parseCidrs('127.0.0.0/8')

async function readTask(request: IncomingMessage): Promise<Task> {
  check(/^application\/json\b/.test(request.headers['content-type'] ?? ''), 'content type', 415)
  check(Number(request.headers['content-length']) <= 256 * 1024, 'length', 413)
  const bytes = await buffer(request)
  check(isUtf8(bytes), 'encoding')
  const text = bytes.toString()
  const inspected = inspectJson(text, { maxDepth: 32, maxKeys: 10_000 })
  check(inspected.ok && findUnstorable(text) === null, 'text')
  const body = inspected.value as Record<string, unknown>
  check(typeof body === 'object' && body !== null && !Array.isArray(body), 'body')
  for (const field in body) check(fields.has(field), field)
  const { name, url, method, execute_at: at } = body
  check(typeof name === 'string' && name !== '' && [...name].length <= 200 && !/[\p{Cc}\p{Cs}]/u.test(name), 'name')
  check(typeof url === 'string' && checkTargetUrl(url) === null, 'url')
  check(!hostIsVisiblyBlocked(new URL(url).hostname, allowedPrivate), 'url')
  check(methods.has(method), 'method')
  check(!hasBrokenReference(body.payload), 'payload')
  const executeAt = typeof at === 'string' ? parseInstant(at) : null
  check(executeAt !== null && executeAt.getTime() < Date.UTC(2100, 0), 'execute_at')
  return { name, url, method: method as Task['method'], executeAt, payload: memberText(text, ['payload']) }
}

function hasBrokenReference(value: unknown): boolean {
  if (typeof value === 'string') return findBrokenReference(value) !== null
  if (typeof value !== 'object' || value === null) return false
  for (const name in value) if (hasBrokenReference((value as Record<string, unknown>)[name])) return true
  return false
}

server.listen(options.port, '127.0.0.1')
await parentSaysGo()
