import { randomBytes } from 'node:crypto'
import { isTransientDatabaseError } from '@belfry/db/postgres/database-errors'
import { type Db, inTransaction, isInTransaction, withDb } from '@belfry/db/postgres/in-transaction'
import type { Pool } from '@belfry/db/postgres/pool'
import { insertKeyedTasks, type KeyedTask } from '@belfry/db/tasks/insert-keyed-tasks'
import { becomesDue, type InsertedTask, insertTasks, type NewTask } from '@belfry/db/tasks/insert-tasks'
import { storeUnderKeys, type TaskUnderKey, type UnderKey } from '@belfry/db/tasks/store-under-key'
import { AppError } from '@belfry/domain/app-error'
import { toId } from '@belfry/domain/id'
import { presentTask } from '@belfry/present/present-task'
import { presentNewTask } from '@belfry/present/task-form'
import type { TaskRow } from '@belfry/present/task-row'
import { microBatch } from '@belfry/runtime'
import type { Work } from '../endpoint.ts'
import { notStored, toKeptResponse } from '../http/idempotency.ts'
import type { ApiResponse } from '../http/response.ts'
import { executeAtPassed, neverStarts } from './new-task.ts'
import { findTaskRows } from './read-tasks.ts'
import type { DueTaskRow } from './schedule.ts'

type StoredTask = InsertedTask & { createdAt: Date }

// The database leaves out a task whose time has come already.
function isStored(inserted: InsertedTask | undefined): inserted is StoredTask {
  return inserted !== undefined && inserted.createdAt !== null
}

/**
 * Stores one task: in the transaction of the creation if it has one, or in a statement that stores the tasks of many
 * requests.
 * @param arrivedAt - When the request arrived.
 * @param present - Makes the response out of the time at which the task was stored.
 * @throws AppError `validation_failed` when the time of the task has come already, `unavailable` when it came meanwhile.
 */
export async function storeTask(
  work: Work,
  task: NewTask,
  arrivedAt: number,
  present: (createdAt: string) => ApiResponse,
) {
  let stored = await (work.keyed ? storeWithResponse(work, work.keyed, task, present) : insertOne(work, task))
  if (!isStored(stored) && becomesDue(task)) stored = await insertOne(work, task)
  if (!isStored(stored)) throw executeAtPassed(task.executeAt, arrivedAt)
  const { createdAt, executeAt, now } = stored
  return { due: task.isMissed ? [] : [toDueRow(task, executeAt)], now, response: present(createdAt.toISOString()) }
}

// Stores one task, unless its time has come.
function insertOne({ db, insertBatches }: Pick<Work, 'db' | 'insertBatches'>, task: NewTask) {
  return isInTransaction(db) ? insertTasks(db, [task]).then(([inserted]) => inserted) : insertBatches.insertTask(task)
}

async function storeWithResponse(
  { db, insertBatches }: Pick<Work, 'db' | 'insertBatches'>,
  request: NonNullable<Work['keyed']>,
  task: NewTask,
  present: (createdAt: string) => ApiResponse,
) {
  // A transaction that was opened on the way would not store the response.
  if (isInTransaction(db)) throw notStored
  const stored = await insertBatches.insertKeyedTask({ task, request, answer: toKeptResponse(present(timeMark)) })
  if (!isStored(stored)) throw notStored
  return stored
}

/**
 * Stores many tasks atomically, and leaves out tasks whose time has come, unless they run then. Returns what became of
 * each, in their order, and how many are new.
 */
export async function storeTasks(work: Work, tasks: readonly NewTask[]) {
  const keyed = tasks.filter(hasKey)
  const plain = keyed.length === 0 ? tasks : tasks.filter(task => !hasKey(task))
  const byId = new Map<string, UnderKey>()
  const store = async (db: Db) => {
    for (const inserted of await insertPlain(withDb(work, db), plain))
      byId.set(inserted.id, { kind: 'stored', inserted })
    const [first] = keyed
    if (!first) return
    const results = await storeUnderKeys(db, first.workspaceId, keyed)
    await refuseManyKept(db, results)
    for (const [i, result] of results.entries()) byId.set(keyed[i]?.id ?? '', result)
  }
  await (keyed.length === 0 ? store(work.db) : inTransaction(work.db, store))
  const results = tasks.map(({ id }) => byId.get(id))
  const due = tasks.flatMap((task, i) => dueOf(task, results[i]) ?? [])
  const added = results.filter(isNew).length
  return { results, due: due.map(({ row }) => row), now: due[0]?.now ?? new Date(), added }
}

const maxKeptBytes = 5 * 1024 * 1024

// Bounds the answer: for each row with the key of a kept task, it repeats the stored payload.
async function refuseManyKept(db: Db, results: readonly UnderKey[]): Promise<void> {
  const ids = results.flatMap(result => (result.kind === 'kept' ? [result.id] : []))
  if (ids.length < 2) return
  const text = `
    SELECT coalesce(sum(octet_length(payload)), 0)::float8 AS bytes
    FROM unnest($1::uuid[]) AS kept (id) JOIN task_requests ON task_id = kept.id`
  const { rows } = await db.query<{ bytes: number }>({ name: 'bytes_of_kept_tasks', text, values: [ids] })
  if ((rows[0]?.bytes ?? 0) <= maxKeptBytes) return
  const detail = `The pending tasks that this batch keeps have more than ${maxKeptBytes} bytes of payloads together.`
  throw new AppError('payload_too_large', `${detail} Send their keys in smaller batches.`)
}

async function insertPlain(work: Work, tasks: readonly NewTask[]): Promise<InsertedTask[]> {
  const [first] = tasks
  if (!first) return []
  if (tasks.length > 1) return insertMany(work.db, tasks)
  let inserted = await insertOne(work, first)
  if (!isStored(inserted) && becomesDue(first)) inserted = await insertOne(work, first)
  return inserted ? [inserted] : []
}

async function insertMany(db: Db, tasks: readonly NewTask[]): Promise<InsertedTask[]> {
  if (!tasks.some(({ runsIfPast, executeAt }) => runsIfPast && executeAt !== null)) return insertTasks(db, tasks)
  return inTransaction(db, async tx => {
    const inserted = await insertTasks(tx, tasks)
    const leftOut = new Set(inserted.filter(row => !isStored(row)).map(({ id }) => id))
    const late = tasks.filter(task => leftOut.has(task.id) && becomesDue(task))
    return late.length === 0 ? inserted : [...inserted, ...(await insertTasks(tx, late))]
  })
}

export function hasKey<T extends NewTask>(task: T): task is T & TaskUnderKey {
  return typeof task.key === 'string'
}

/** Returns whether a task was stored as a new one: its time had not come, and no other had its key. */
export function isNew(result: UnderKey | undefined): result is { kind: 'stored'; inserted: StoredTask } {
  return result?.kind === 'stored' && isStored(result.inserted)
}

// Returns when a task is due, and the database's clock; null when nothing has changed.
function dueOf(task: NewTask, result: UnderKey | undefined): { row: DueTaskRow; now: Date } | null {
  if (task.isMissed) return null
  if (isNew(result)) {
    const { executeAt, now } = result.inserted
    return { row: toDueRow(task, executeAt), now }
  }
  if (result?.kind !== 'replaced') return null
  return { row: { id: result.id, dueAt: result.executeAt }, now: result.now }
}

// Returns a task as `enqueue` needs it.
function toDueRow({ id, workspaceId, url }: NewTask, dueAt: Date): DueTaskRow {
  return { id, workspaceId, url, dueAt }
}

/** Reads the tasks that have the keys of other ones, by their ids. */
export async function findUnderKeys(db: Db, workspaceId: string, results: ReadonlyArray<UnderKey | undefined>) {
  const ids = results.flatMap(result => (result?.kind === 'kept' || result?.kind === 'replaced' ? [result.id] : []))
  const rows = ids.length === 0 ? [] : await findTaskRows(db, workspaceId, [...new Set(ids)])
  return new Map(rows.map(row => [row.id, row]))
}

/**
 * Returns the public form of a task, or of the task that has its key now.
 * @param found - The tasks that have the keys of others: see `findUnderKeys`.
 * @param arrivedAt - When the request arrived. Default: for a task without a time.
 * @throws AppError `key_in_use`, `validation_failed` when the time of the task has come already or is not before its
 * deadline, or `unavailable` when it came meanwhile.
 */
export function presentStored(
  task: NewTask,
  result: UnderKey | undefined,
  found: ReadonlyMap<string, TaskRow>,
  arrivedAt = Number.POSITIVE_INFINITY,
) {
  if (result?.kind === 'taken') throw keyInUse(task, toId('task', result.id))
  if (result?.kind === 'kept' || result?.kind === 'replaced') {
    const row = found.get(result.id)
    if (!row) throw new Error('The task with the key is gone.')
    return presentTask(row)
  }
  if (result?.kind === 'never_starts') throw neverStarts()
  if (!isNew(result)) throw executeAtPassed(task.executeAt, arrivedAt)
  return presentNewTask(task, result.inserted.createdAt.toISOString())
}

function keyInUse({ key }: NewTask, taskId: string): AppError {
  const message = `The pending task ${taskId} has the key ${key}. Send on_conflict to keep or replace it.`
  return new AppError('key_in_use', message, { extra: { task_id: taskId } })
}

/** Marks the place of the creation time in a response that is stored with its task. Random, so callers cannot forge it. */
const timeMark = randomBytes(16).toString('hex')

/**
 * Stores single tasks, batched over many requests into one statement.
 * @param onBatch - Called with the number of tasks in each statement.
 */
export function openInsertBatches(pool: Pool, onBatch: (count: number) => void) {
  const options = { maxSize: 100, maxInFlight: 2, split: (error: unknown) => !isTransientDatabaseError(error) }
  return {
    insertTask: microBatch({
      run: async (tasks: NewTask[]) => {
        onBatch(tasks.length)
        return inOrder(tasks, await insertTasks(pool, tasks))
      },
      ...options,
    }),
    /** Stores the response as well, whose times are `timeMark`. */
    insertKeyedTask: microBatch({
      run: async (keyed: KeyedTask[]) => {
        onBatch(keyed.length)
        const tasks = keyed.map(({ task }) => task)
        return inOrder(tasks, await insertKeyedTasks(pool, keyed, timeMark))
      },
      ...options,
    }),
  }
}

function inOrder(tasks: NewTask[], inserted: InsertedTask[]): InsertedTask[] {
  const rows = new Map(inserted.map(row => [row.id, row]))
  return tasks.map(({ id }) => {
    const row = rows.get(id)
    if (!row) throw new Error('The insert returned no row for a task.')
    return row
  })
}
