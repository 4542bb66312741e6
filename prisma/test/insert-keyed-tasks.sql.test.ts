import { createHash, randomUUID } from 'node:crypto'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { expect, it } from 'vitest'
import { answerOnce } from '../src/answer-once.ts'
import { inTransaction } from '../src/postgres/in-transaction.ts'
import { insertKeyedTasks, type KeyedTask } from '../src/tasks/insert-keyed-tasks.ts'
import { aTask, useDatabase } from './setup.ts'

const db = useDatabase()
const mark = 'the time goes here'

const workspaceId = randomUUID()
let keys = 0
function aKeyedTask(changes: Partial<KeyedTask['task']> = {}, key = `key-${++keys}`): KeyedTask {
  const task = aTask({ workspaceId, executeAt: null, ...changes })
  const hash = createHash('sha256').update(task.name).digest()
  const answer = { status: 201, location: `/${task.id}`, answer: `{"at":"${mark}","until":"${mark}"}` }
  return { task, request: { workspaceId: task.workspaceId, key, hash }, answer }
}

const repeat = ({ request }: KeyedTask) =>
  answerOnce(db.pool, request, () => Promise.reject(new Error('The work was to be done again.')))
const countOf = async (ids: string[]) => {
  const { rowCount } = await db.pool.query('SELECT FROM tasks WHERE id = ANY ($1)', [ids])
  return rowCount
}

it('stores a response with each task, with the time of creation', async () => {
  const tasks = Array.from({ length: 5 }, () => aKeyedTask())
  const inserted = await insertKeyedTasks(db.pool, tasks, mark)
  expect(inserted.map(({ id }) => id).toSorted()).toEqual(tasks.map(({ task }) => task.id).toSorted())
  for (const one of tasks) {
    const at = inserted.find(({ id }) => id === one.task.id)?.createdAt?.toISOString()
    const answer = { status: 201, location: `/${one.task.id}`, answer: `{"at":"${at}","until":"${at}"}` }
    expect(await repeat(one)).toMatchObject({ kind: 'repeated', answer })
  }
})

it('leaves out tasks with a used key or a past time, and stores the others', async () => {
  const used = aKeyedTask()
  await insertKeyedTasks(db.pool, [used], mark)
  const [again, past, good] = [
    aKeyedTask({}, used.request.key),
    aKeyedTask({ executeAt: new Date('2020-01-01') }),
    aKeyedTask(),
  ]
  const inserted = await insertKeyedTasks(db.pool, [again, past, good], mark)
  const stored = inserted.filter(({ createdAt }) => createdAt !== null).map(({ id }) => id)
  expect([inserted.length, stored]).toEqual([3, [good.task.id]])
  expect(await countOf([again.task.id, past.task.id, good.task.id])).toBe(1)
  expect((await repeat(used)).kind).toBe('repeated')
  await expect(repeat(past)).rejects.toThrow('The work was to be done again.')
})

it('leaves out tasks whose key another request has locked, without waiting', async () => {
  const mine = aKeyedTask()
  await inTransaction(db.pool, async tx => {
    expect((await insertKeyedTasks(tx, [mine], mark))[0]?.createdAt).not.toBeNull()
    const theirs = aKeyedTask({}, mine.request.key)
    expect(await insertKeyedTasks(db.pool, [theirs], mark)).toMatchObject([{ id: theirs.task.id, createdAt: null }])
    expect((await repeat(theirs)).kind).toBe('in_progress')
  })
})

it('stores one task for equal keys in concurrent statements', async () => {
  for (let round = 0; round < propertyRuns(20, 5); round++) {
    const rivals = Array.from({ length: 4 }, () => aKeyedTask({}, `crossing-${round}`))
    const others = Array.from({ length: 4 }, () => [aKeyedTask(), aKeyedTask()])
    const results = await Promise.all(
      rivals.map((rival, i) => insertKeyedTasks(db.pool, [...(others[i] ?? []), rival], mark)),
    )
    const stored = results.flat().filter(({ createdAt }) => createdAt !== null)
    expect(stored.filter(({ id }) => rivals.some(({ task }) => task.id === id))).toHaveLength(1)
    expect(stored).toHaveLength(9)
    expect(await countOf(rivals.map(({ task }) => task.id))).toBe(1)
  }
})

it('accepts a key again after a day', async () => {
  const first = aKeyedTask()
  await insertKeyedTasks(db.pool, [first], mark)
  await db.pool.query(`UPDATE idempotency_keys SET created_at = created_at - interval '25 hours' WHERE key = $1`, [
    first.request.key,
  ])
  const next = aKeyedTask({ name: 'Another' }, first.request.key)
  expect((await insertKeyedTasks(db.pool, [next], mark))[0]?.createdAt).not.toBeNull()
  expect((await repeat(first)).kind).toBe('reused')
})

it('records the size of the stored payloads', async () => {
  const task = aKeyedTask({ workspaceId: randomUUID(), payload: '{"n":1}' })
  await insertKeyedTasks(db.pool, [task], mark)
  const { rows } = await db.pool.query<{ storage_bytes: string }>(
    'SELECT storage_bytes FROM usage_changes WHERE workspace_id = $1',
    [task.task.workspaceId],
  )
  expect(Number(rows[0]?.storage_bytes)).toBe(7)
})
