import { ApiError, type Belfry } from '@belfry/client'
import pLimit from 'p-limit'
import { type Fields, kinds } from './kinds.ts'
import { type Change, compare, type Plan } from './plan.ts'
import type { Declared } from './read-configuration.ts'
import { readLive, toLive } from './read-live.ts'

// A large file may reach the rate limit. The response says when to continue.
const maxRetries = 10

// Enough to hide the latency of the network, and few enough to leave room for other callers of the API.
const parallel = 8

/**
 * Carries out a plan: queues first, deletions last. Repeated after an interruption, or beside another process with the same
 * file, it ends in the same state, because the API gives a key to one object only.
 */
export async function applyPlan(
  belfry: Belfry,
  { changes }: Plan,
  { signal, onDone }: { signal: AbortSignal; onDone: (change: Change) => void },
): Promise<void> {
  const isDeletion = ({ action }: Change) => action === 'delete'
  const isQueue = (change: Change) => change.action !== 'delete' && change.declared.kind === 'queue'
  const steps = [
    changes.filter(isQueue),
    changes.filter(change => !isQueue(change) && !isDeletion(change)),
    changes.filter(isDeletion),
  ]
  const limit = pLimit(parallel)
  for (const step of steps) {
    const carried = step.map(change =>
      limit(async () => {
        signal.throwIfAborted()
        await carryOut(belfry, change, signal)
        onDone(change)
      }),
    )
    try {
      await Promise.all(carried)
    } catch (error) {
      limit.clearQueue()
      throw error
    }
  }
}

async function carryOut(belfry: Belfry, change: Change, signal: AbortSignal): Promise<void> {
  if (change.action === 'update') return update(belfry, change, signal)
  if (change.action !== 'create') await remove(belfry, change.live, signal)
  if (change.action !== 'delete') await create(belfry, change.declared, signal)
}

// A cron job that is to be paused is created with this start, so it never runs before the pause.
const notYet = '2090-01-01T00:00:00.000Z'

/** Returns whether a cron job that is to be paused has been created, but not paused. */
export function isUnfinished(fields: Fields): boolean {
  return fields.starts_at === notYet
}

export async function create(belfry: Belfry, declared: Declared, signal: AbortSignal): Promise<Fields> {
  const { kind, key, body, isPaused } = declared
  const { path } = kinds[kind]
  if (kind === 'queue') {
    return belfry.request('PUT', `${path}/${encodeURIComponent(String(key))}`, { body, signal, maxRetries })
  }
  const given = { ...withoutNulls({ ...body, key }), ...(isPaused ? { starts_at: notYet, ends_at: undefined } : {}) }
  const idempotencyKey = crypto.randomUUID() // makes retries safe without a key, too
  try {
    const made = await belfry.request<Fields>('POST', path, { body: given, signal, maxRetries, idempotencyKey })
    if (isPaused) await finish(belfry, declared, made, signal)
    return made
  } catch (error) {
    if (!(error instanceof ApiError && error.code === 'key_in_use')) throw error
    // Another process has created it, or an earlier attempt whose answer was lost.
    const live = (await readLive(belfry, [kind], signal)).find(one => one.key === key)
    if (!live) throw error
    await finish(belfry, declared, live.fields, signal)
    return live.fields
  }
}

export async function finish(belfry: Belfry, declared: Declared, fields: Fields, signal: AbortSignal): Promise<void> {
  const change = compare(declared, toLive(declared.kind, fields))
  if (change) await carryOut(belfry, change, signal)
}

async function update(
  belfry: Belfry,
  { declared, live, differences, isAdopted }: Extract<Change, { action: 'update' }>,
  signal: AbortSignal,
): Promise<void> {
  if (declared.kind === 'queue') {
    await create(belfry, declared, signal)
    return
  }
  const path = `${kinds[declared.kind].path}/${live.id}`
  const { isPaused } = declared
  if (isPaused && !live.isPaused) await belfry.request('POST', `${path}/pause`, { signal, maxRetries })
  const body: Fields = isAdopted ? { key: declared.key } : {}
  for (const { field } of differences) {
    // A value that the file does not have keeps the API from changing its rest, such as the content type of a body.
    if (field !== 'paused' && !(bodies.includes(field) && declared.body[field] === undefined)) {
      body[field] = declared.body[field] ?? null
    }
  }
  // They belong together.
  if ('payload_base64' in body || 'content_type' in body) {
    body.payload_base64 = declared.body.payload_base64
    body.content_type = declared.body.content_type
  }
  // The answer shows whether a cron job that had ended is paused.
  const changed = { body, signal, maxRetries }
  const { status } = Object.keys(body).length > 0 ? await belfry.request<Fields>('PATCH', path, changed) : live.fields
  if (!isPaused && status === 'paused') await belfry.request('POST', `${path}/resume`, { signal, maxRetries })
}

const bodies = ['payload', 'payload_base64']

async function remove(belfry: Belfry, { kind, id }: { kind: Declared['kind']; id: string }, signal: AbortSignal) {
  try {
    await belfry.request('DELETE', `${kinds[kind].path}/${encodeURIComponent(id)}`, { signal, maxRetries })
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error // deleted meanwhile
  }
}

function withoutNulls(body: Fields): Fields {
  return Object.fromEntries(Object.entries(body).filter(([, value]) => value !== null))
}
