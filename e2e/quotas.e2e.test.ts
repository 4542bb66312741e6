import { type Receiver, startReceiver } from '@belfry/test-support'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { waitFor } from '@belfry/test-support/wait-for'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Caller, inMs } from './api-calls.ts'
import { type Belfry, startBelfry } from './belfry.ts'

const tasks = '/api/v1/scheduler/tasks'
const executions = propertyRuns(100, 20)
const limits = { executions, storage_bytes: 30_000 }

describe('quotas, with two dispatchers', { timeout: 90_000 }, () => {
  let belfry: Belfry
  let target: Receiver
  let db: pg.Client
  beforeAll(async () => {
    target = await startReceiver()
    const env = { TIERS: JSON.stringify({ unicorn: limits }), DEFAULT_TIER: 'unicorn' }
    belfry = await startBelfry('postgres', { services: ['all-in-one', 'dispatcher'], env })
    db = new pg.Client({ connectionString: belfry.databaseUrl })
    await db.connect()
  })
  afterAll(async () => {
    await db?.end()
    await belfry?.close()
    await target?.close()
  })

  const create = (caller: Caller, path: string, payload?: string) => {
    const body = { name: path, url: target.url(path), method: 'POST', execute_at: inMs(3_600_000), payload }
    return belfry.call('POST', tasks, body, caller)
  }
  const createAll = async (caller: Caller, path: string, count: number, payload?: string) => {
    const body = { name: path, url: target.url(path), method: 'POST', execute_at: inMs(3_600_000), payload }
    const stored = await belfry.call('POST', `${tasks}/batch`, { tasks: Array(count).fill(body) }, caller)
    expect(stored.body.data.filter(({ error }: { error?: unknown }) => error)).toEqual([])
  }
  // Makes all tasks due at the same time, regardless of how long it took to create them.
  const letFallDue = async (path: string) => {
    const due = `UPDATE tasks SET execute_at = now() + interval '2 seconds', due_at = now() + interval '2 seconds'
                 WHERE id IN (SELECT task_id FROM task_requests WHERE name = $1)`
    await db.query(due, [path])
    await db.query('UPDATE promotion SET watermark = least(watermark, now())')
  }
  const organization = (caller: Caller, method: string, path: string, body?: unknown) =>
    belfry.call(method, `/api/v1/organizations/${caller.organizationId}${path}`, body, { token: String(caller.token) })
  const publish = (caller: Caller) => {
    const body = { topic: 'quota', payload: {}, target_url: target.url('/published') }
    return belfry.call('POST', '/api/events', body, caller)
  }
  const states = async (caller: Caller) => {
    const found: Record<string, number> = {}
    let next = ''
    do {
      const { body } = await belfry.call('GET', `${tasks}?limit=100${next}`, undefined, caller)
      for (const { state, state_reason } of body.data) {
        const name = state_reason === null ? state : `${state} ${state_reason}`
        found[name] = (found[name] ?? 0) + 1
      }
      next = body.next_cursor && `&cursor=${encodeURIComponent(body.next_cursor)}`
    } while (next)
    return found
  }
  const ended = (caller: Caller) =>
    waitFor(
      () => states(caller),
      found => !found.pending && !found.processing,
      60_000,
    )

  it('exactly as many of three times as many due tasks are dispatched as the tier allows, the others are cancelled with the reason', async () => {
    const caller = await belfry.anotherCaller()
    await createAll(caller, '/limited', 3 * executions)
    await letFallDue('/limited')
    expect(await ended(caller)).toEqual({ success: executions, 'cancelled monthly_execution_limit': 2 * executions })
    expect(target.requestsTo('/limited')).toHaveLength(executions)
    const usage = await waitFor(
      async () => (await organization(caller, 'GET', '/usage')).body,
      ({ daily }) => daily.at(-1).executions === executions,
    )
    expect(usage.executions).toEqual({ used: executions, limit: executions })
    // An event would start at once. A task may be due in the next month.
    expect(await publish(caller)).toMatchObject({ status: 402, body: { code: 'quota_exceeded' } })
    expect(await create(caller, '/next-month')).toMatchObject({ status: 201 })
    await organization(caller, 'PUT', '/subscription', { tier: 'scaleup' })
    expect(await publish(caller)).toMatchObject({ status: 202 })
  })

  it('a higher tier before the due time saves waiting tasks', async () => {
    const caller = await belfry.anotherCaller()
    await createAll(caller, '/raised', 1.5 * executions)
    expect(await organization(caller, 'PUT', '/subscription', { tier: 'scaleup' })).toMatchObject({ status: 200 })
    await letFallDue('/raised')
    expect(await ended(caller)).toEqual({ success: 1.5 * executions })
    expect((await organization(caller, 'GET', '/usage')).body.executions.used).toBe(1.5 * executions)
  })

  it('above the storage quota due tasks are cancelled and new ones refused, until the tier is raised', async () => {
    const [caller, saved] = [await belfry.anotherCaller(), await belfry.anotherCaller()]
    for (const each of [caller, saved]) {
      await createAll(each, '/stored', 40, 'x')
      expect(await create(each, '/large', 'x'.repeat(limits.storage_bytes))).toMatchObject({ status: 201 })
    }
    const refused = (each: Caller) =>
      waitFor(
        () => create(each, '/refused'),
        ({ status }) => status === 402,
      )
    expect((await refused(caller)).body.code).toBe('quota_exceeded')
    expect(await publish(caller)).toMatchObject({ status: 402, body: { code: 'quota_exceeded' } })
    await refused(saved)
    await organization(saved, 'PUT', '/subscription', { tier: 'scaleup' })
    await letFallDue('/stored')
    // Only tasks from before the refusal are waiting.
    const done = async (each: Caller) => {
      const found = await waitFor(
        () => states(each),
        ({ 'cancelled storage_quota': cancelled = 0, success = 0 }) => cancelled + success >= 40,
        60_000,
      )
      return { ...found, pending: undefined }
    }
    expect(await done(caller)).toEqual({ 'cancelled storage_quota': 40 })
    expect(await done(saved)).toEqual({ success: 40 })
    expect(await create(saved, '/more')).toMatchObject({ status: 201 })
  })
})
