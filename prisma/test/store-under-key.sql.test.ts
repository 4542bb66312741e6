import { randomUUID } from 'node:crypto'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { describe, expect, it } from 'vitest'
import type { NewTask } from '../src/tasks/insert-tasks.ts'
import { type OnConflict, storeUnderKeys, type TaskUnderKey, type UnderKey } from '../src/tasks/store-under-key.ts'
import { claimTasks } from './claim-tasks.ts'
import { aTask, claimant, taskRow, useDatabase } from './setup.ts'

const db = useDatabase()
const anHourMs = 3_600_000

const inAnHour = () => new Date(Date.now() + anHourMs)

function keyed(workspaceId: string, onConflict: OnConflict, changes: Partial<NewTask> = {}): TaskUnderKey {
  return {
    ...aTask({ workspaceId, source: 'task', executeAt: inAnHour(), ...changes }),
    key: changes.key ?? 'k',
    onConflict,
  }
}

async function store(task: TaskUnderKey): Promise<UnderKey> {
  const [result] = await storeUnderKeys(db.pool, task.workspaceId, [task])
  return result as UnderKey
}

const pending = async (workspaceId: string) =>
  (
    await db.pool.query(`SELECT id, key FROM tasks WHERE workspace_id = $1 AND state = 'pending' ORDER BY id`, [
      workspaceId,
    ])
  ).rows

describe('a key', () => {
  it('is refused, kept or replaced while a pending task has it', async () => {
    const workspaceId = randomUUID()
    const callbacks = '{"on_failure":{"url":"https://example.com/failed"}}'
    const first = keyed(workspaceId, 'reject', { labels: ['a', 'b'], maxAgeMs: anHourMs, callbacks })
    expect(await store(first)).toMatchObject({ kind: 'stored', inserted: { id: first.id } })
    expect(await store(keyed(workspaceId, 'reject'))).toEqual({ kind: 'taken', id: first.id })
    expect(await store(keyed(workspaceId, 'keep'))).toEqual({ kind: 'kept', id: first.id })
    const executeAt = new Date(Date.now() + 2 * anHourMs)
    const next = keyed(workspaceId, 'replace', {
      executeAt,
      name: 'Next',
      payload: '2',
      maxRetries: 9,
      labels: ['b', 'c'],
      callbacks: null,
    })
    expect(await store(next)).toMatchObject({ kind: 'replaced', id: first.id, executeAt })
    expect(await taskRow(db.pool, first.id)).toMatchObject({
      ...{ name: 'Next', payload: '2', max_retries: 9, execute_at: executeAt, due_at: executeAt, expires_at: null },
      labels: ['b', 'c'],
    })
    const labels = await db.pool.query('SELECT label FROM task_labels WHERE task_id = $1 ORDER BY label', [first.id])
    expect(labels.rows.map(({ label }) => label)).toEqual(['b', 'c'])
    expect(await pending(workspaceId)).toEqual([{ id: first.id, key: 'k' }])
  })

  it('belongs to one workspace, and is free once its task is claimed or cancelled', async () => {
    const [workspaceId, other] = [randomUUID(), randomUUID()]
    const first = keyed(workspaceId, 'reject')
    await store(first)
    expect((await store(keyed(other, 'reject'))).kind).toBe('stored')
    await db.pool.query(`UPDATE tasks SET state = 'cancelled', finished_at = now() WHERE id = $1`, [first.id])
    expect((await store(keyed(workspaceId, 'reject'))).kind).toBe('stored')
  })

  it.each(['reject', 'keep', 'replace'] as const)(
    'has one pending task after 20 concurrent creates: %s',
    async mode => {
      const workspaceId = randomUUID()
      const tasks = Array.from({ length: 20 }, (_, n) => keyed(workspaceId, mode, { payload: `${n}` }))
      const kinds = (await Promise.all(tasks.map(store))).map(({ kind }) => kind)
      expect(kinds.filter(kind => kind === 'stored')).toHaveLength(1)
      expect(new Set(kinds)).toEqual(new Set(['stored', { reject: 'taken', keep: 'kept', replace: 'replaced' }[mode]]))
      expect(await pending(workspaceId)).toHaveLength(1)
    },
  )

  it('never loses a replacement that races a claim: each request is sent, or replaced by a later one', async () => {
    for (let round = 0; round < propertyRuns(40); round++) {
      const workspaceId = randomUUID()
      const first = keyed(workspaceId, 'reject', { payload: '"first"' })
      await store(first)
      await db.pool.query(
        `UPDATE tasks SET due_at = now() - interval '1 ms', execute_at = now() - interval '1 ms' WHERE id = $1`,
        [first.id],
      )
      const next = keyed(workspaceId, 'replace', { payload: '"next"' })
      const claim = claimTasks(db.pool, claimant, [{ taskId: first.id, token: randomUUID() }])
      const [[claimed], result] = await Promise.all([claim, store(next)])
      // The claim has the first request, and the next one is a task of its own; or the pending task has the next request.
      if (claimed?.kind === 'claimed') {
        expect([claimed.task.payload, result.kind]).toEqual(['"first"', 'stored'])
        expect(await pending(workspaceId)).toEqual([{ id: next.id, key: 'k' }])
      } else {
        expect(result.kind).toBe('replaced')
        expect((await taskRow(db.pool, first.id)).payload).toBe('"next"')
        expect(await pending(workspaceId)).toEqual([{ id: first.id, key: 'k' }])
      }
    }
  })

  it('is never claimed before a slot is free', async () => {
    const task = keyed(randomUUID(), 'reject')
    await store(task)
    await db.pool.query(`UPDATE tasks SET due_at = now() - interval '1 ms' WHERE id = $1`, [task.id])
    const request = { taskId: task.id, token: randomUUID(), isPrefetch: true }
    expect(await claimTasks(db.pool, claimant, [request])).toEqual([{ kind: 'not_prefetchable' }])
  })

  it('is refused with a time that has passed, for a new task and for a replacement', async () => {
    const workspaceId = randomUUID()
    const past = { executeAt: new Date(Date.now() - 1000) }
    expect(await store(keyed(workspaceId, 'reject', past))).toMatchObject({
      kind: 'stored',
      inserted: { createdAt: null },
    })
    await store(keyed(workspaceId, 'reject'))
    expect(await store(keyed(workspaceId, 'replace', past))).toEqual({ kind: 'not_future' })
  })

  it('is refused as a replacement that is due at once, and whose deadline has passed', async () => {
    const workspaceId = randomUUID()
    await store(keyed(workspaceId, 'reject'))
    const late = { executeAt: null, expiresAt: new Date(Date.now() - 1000) }
    expect(await store(keyed(workspaceId, 'replace', late))).toEqual({ kind: 'never_starts' })
  })
})

it('stores a thousand keys in one transaction, with repeated ones', async () => {
  const workspaceId = randomUUID()
  const tasks = Array.from({ length: 1_000 }, (_, n) => keyed(workspaceId, 'keep', { key: `k${n % 999}` }))
  const kinds = (await storeUnderKeys(db.pool, workspaceId, tasks)).map(({ kind }) => kind)
  expect([kinds.filter(kind => kind === 'stored').length, kinds.at(-1)]).toEqual([999, 'kept'])
}, 60_000)
