// What somebody writes by hand who stores tasks as Belfry does: node:http, the same checks, the same statement, the same
// answer.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { insertTasks, type NewTask, openPool } from '@belfry/db'
import { newUuid, toId } from '@belfry/domain'
import { microBatch } from '@belfry/runtime'
import { endWithParent, parentSaysGo } from '../lab/parent.ts'
import { openCallers, Refused } from './raw-create-callers.ts'
import { type CheckedTask, readTask } from './raw-create-task.ts'

export type RawCreateOptions = { databaseUrl: string; port: number }

endWithParent()
const options = JSON.parse(process.argv[2] ?? '') as RawCreateOptions // as the bench writes it
const pool = openPool(options.databaseUrl, { max: 10, onError: error => console.error(error) })
const callers = openCallers(pool)
const insert = microBatch<NewTask, { id: string; createdAt: Date | null } | undefined>({
  maxSize: 100,
  maxInFlight: 2,
  run: async tasks => {
    const rows = new Map((await insertTasks(pool, tasks)).map(row => [row.id, row]))
    return tasks.map(({ id }) => rows.get(id))
  },
  split: () => true,
})

const server = createServer(async (request, response) => {
  try {
    if (request.method !== 'POST' || request.url !== '/api/v1/scheduler/tasks') throw new Refused(404, 'not found')
    const { workspaceId, headers } = await callers.admit(request)
    const task = readTask(await readBody(request))
    await callers.requireQuota(workspaceId)
    await store(workspaceId, task, response, headers)
  } catch (error) {
    const { status, message } = error instanceof Refused ? error : new Refused(500, String(error))
    answer(response, status, JSON.stringify({ error: message }), {})
  }
})

async function store(
  workspaceId: string,
  { task, headers, payload }: CheckedTask,
  response: ServerResponse,
  more: Record<string, string>,
): Promise<void> {
  const { name, url, method, executeAt, retry, timeoutMs } = task
  const { maxRetries, backoff, baseDelayMs, maxDelayMs } = retry
  const id = newUuid()
  const inserted = await insert({
    id,
    workspaceId,
    source: 'task',
    executeAt,
    name,
    url,
    method,
    headers: JSON.stringify(headers),
    payload: payload ?? null,
    maxRetries,
    backoff,
    baseDelayMs,
    maxDelayMs,
    timeoutMs,
    topic: null,
    eventId: null,
    replayOf: null,
  })
  if (!inserted?.createdAt) throw new Refused(400, 'execute_at is past')
  const createdAt = inserted.createdAt.toISOString()
  const publicId = toId('task', id)
  const head = JSON.stringify({
    id: publicId,
    workspace_id: toId('ws', workspaceId),
    name,
    source: 'task',
    cronjob_id: null,
    event_id: null,
    topic: null,
    url,
    method,
    headers,
    execute_at: executeAt.toISOString(),
    state: 'pending',
    state_reason: null,
    attempts: 0,
    retry: { max_retries: maxRetries, backoff, base_delay_ms: baseDelayMs, max_delay_ms: maxDelayMs },
    timeout_ms: timeoutMs,
    next_retry_at: null,
    last_run: null,
    replay_of: null,
    created_at: createdAt,
    updated_at: createdAt,
    finished_at: null,
  })
  const text = `${head.slice(0, -1)},"payload":${payload ?? 'null'}}`
  more.Location = `/api/v1/scheduler/tasks/${publicId}`
  answer(response, 201, text, more)
}

function answer(response: ServerResponse, status: number, text: string, headers: Record<string, string>): void {
  headers['Content-Type'] = 'application/json'
  headers['Content-Length'] = String(Buffer.byteLength(text))
  response.writeHead(status, headers).end(text)
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
