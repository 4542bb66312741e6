// What somebody writes by hand who stores tasks as Belfry does: node:http, the same checks, the same statement.
import { createHash } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import { insertTasks, type NewTask, openPool } from '@belfry/db'
import { newUuid, toId } from '@belfry/domain'
import { microBatch } from '@belfry/runtime'
import { endWithParent, parentSaysGo } from '../lab/parent.ts'

export type RawCreateOptions = { databaseUrl: string; port: number }

type Body = { name: string; url: string; method: string; execute_at: string; payload?: unknown }

endWithParent()
const options = JSON.parse(process.argv[2] ?? '') as RawCreateOptions // as the bench writes it
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
const workspaces = new Map<string, { id: string; until: number }>()
const rememberedMs = 5_000

const server = createServer(async (request, response) => {
  const { status, body } = await create(request).catch(error => ({ status: 500, body: { error: String(error) } }))
  const text = JSON.stringify(body)
  response
    .writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) })
    .end(text)
})

async function create(request: IncomingMessage): Promise<{ status: number; body: unknown }> {
  const workspaceId = await findWorkspace(String(request.headers['x-api-key']))
  if (!workspaceId) return { status: 401, body: { error: 'unknown key' } }
  const text = await readText(request)
  const body = JSON.parse(text) as Body // checked below
  const executeAt = new Date(body.execute_at)
  const isValid = typeof body.name === 'string' && URL.canParse(body.url) && !Number.isNaN(executeAt.getTime())
  if (request.method !== 'POST' || !isValid) return { status: 400, body: { error: 'not valid' } }
  const task: NewTask = {
    id: newUuid(),
    workspaceId,
    source: 'task',
    executeAt,
    name: body.name,
    url: body.url,
    method: body.method,
    headers: '{}',
    payload: JSON.stringify(body.payload),
    maxRetries: 3,
    backoff: 'exponential',
    baseDelayMs: 1_000,
    maxDelayMs: 3_600_000,
    timeoutMs: 30_000,
    topic: null,
    eventId: null,
    replayOf: null,
  }
  const inserted = await insert(task)
  if (!inserted?.createdAt) return { status: 400, body: { error: 'past' } }
  return { status: 201, body: { id: toId('task', task.id), ...body, created_at: inserted.createdAt } }
}

async function findWorkspace(key: string): Promise<string | undefined> {
  const hash = createHash('sha256').update(key).digest()
  const name = hash.toString('base64')
  const known = workspaces.get(name)
  if (known && known.until > performance.now()) return known.id
  const text = 'SELECT workspace_id AS id FROM api_keys WHERE hash = $1 AND revoked_at IS NULL'
  const { rows } = await pool.query<{ id: string }>({ name: 'find_api_key', text, values: [hash] })
  const id = rows[0]?.id
  if (id) workspaces.set(name, { id, until: performance.now() + rememberedMs })
  return id
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

server.listen(options.port, '127.0.0.1')
await parentSaysGo()
