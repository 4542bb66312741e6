import { parseInput } from '@belfry/contract/field-errors'
import { problems } from '@belfry/contract/problem'
import type { QueueField } from '@belfry/contract/queue'
import { createTaskBody, type Task } from '@belfry/contract/task'
import { type BatchRow, batchAnswer, createTasksBody } from '@belfry/contract/task-batch'
import { type Db, inTransaction } from '@belfry/db/postgres/in-transaction'
import type { DueRow } from '@belfry/db/tasks/due-work'
import { type InsertedTask, insertTasks } from '@belfry/db/tasks/insert-tasks'
import { storeUnderKeys, type UnderKey } from '@belfry/db/tasks/store-under-key'
import { AppError } from '@belfry/domain/app-error'
import { elementTexts } from '@belfry/domain/member-text'
import { creation, type Work } from '../endpoint.ts'
import { bodyLimits } from '../http/read-body.ts'
import { ok } from '../http/reply.ts'
import { openQueue } from '../queues/name-queue.ts'
import { withinLimit } from '../quotas/headroom.ts'
import { type Quota, readQuota, refuseLargePayload, refuseOverQuota, spendChained } from '../quotas/quotas.ts'
import { enqueue } from './enqueue.ts'
import { executeAtPassed, inspectNewTask, toNewTask } from './new-task.ts'
import { presentNewTask } from './present-task.ts'
import { recordOrigin } from './record-origin.ts'
import { dueUnderKey, hasKey, isStored, presentUnderKey } from './store-task.ts'

// The rows lie two levels below the body.
const limits = { maxBytes: 5 * 1024 * 1024, maxDepth: bodyLimits.maxDepth + 2, maxKeys: 200_000 }

export const createTasks = creation({
  right: 'task.create',
  summary: 'Schedule up to 1,000 tasks; an invalid row does not affect the others',
  answer: { status: 200, body: batchAnswer },
  refusals: ['quota_exceeded'],
  body: createTasksBody,
  limits,
  async handle(work, { caller, body, bodyText, request, arrivedAt }) {
    const { organizationId, workspaceId } = caller
    const quota = await readQuota(work, organizationId)
    refuseOverQuota(quota, 'later')
    const texts = elementTexts(bodyText, ['tasks']) ?? []
    const rows = body.tasks.map((row, i) => readRow(work, quota, workspaceId, row, texts[i] ?? ''))
    const tasks = rows.filter((row): row is NewRow => !(row instanceof AppError))
    // All good rows are stored, or none.
    await openQueues(work, workspaceId, rows)
    const objects = { workspaceId, objects: 'pendingTasks', wanted: tasks.length } as const
    recordOrigin(work, { caller, request }, tasks)
    await spendChained(work.db, quota, { organizationId, tasks })
    const stored = await withinLimit(work, quota, objects, ({ db }) => insert(db, workspaceId, tasks, arrivedAt))
    const due = tasks.flatMap(task => stored.dueOf(task) ?? [])
    const [first] = due
    work.afterCommit(ctx =>
      enqueue(
        ctx,
        due.map(({ row }) => row),
        first?.now ?? new Date(ctx.clock.now()),
      ),
    )
    return ok({ data: await Promise.all(rows.map((row, index) => answerRow(work.db, row, index, stored))) })
  },
})

type NewRow = ReturnType<typeof toNewTask> & { queueField?: QueueField | null | undefined }
type Row = NewRow | AppError

function readRow(work: Work, quota: Quota, workspaceId: string, row: unknown, text: string): Row {
  try {
    const task = toTask(work, workspaceId, row, text)
    refuseLargePayload(quota, task.payload)
    return task
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

function toTask(work: Work, workspaceId: string, row: unknown, text: string): NewRow {
  if (Buffer.byteLength(text) > bodyLimits.maxBytes) {
    throw new AppError('payload_too_large', `A task may have at most ${bodyLimits.maxBytes} bytes.`)
  }
  const parsed = parseInput(createTaskBody, row)
  const schemaErrors = parsed.ok ? [] : parsed.errors
  const errors = [...schemaErrors, ...inspectNewTask(work, row, schemaErrors)]
  if (parsed.ok && errors.length === 0) {
    return Object.assign(toNewTask(workspaceId, parsed.value, text), { queueField: parsed.value.queue })
  }
  throw new AppError('validation_failed', 'The task is invalid; see errors.', { errors })
}

// Hundreds of rows often name one queue. Rows are read in order, so the last one with limits wins.
async function openQueues(work: Work, workspaceId: string, rows: readonly Row[]): Promise<void> {
  const fields = rows.flatMap(row => (row instanceof AppError || !row.queueField ? [] : [row.queueField]))
  const distinct = new Map(fields.map(field => [JSON.stringify(field), field]))
  for (const field of distinct.values()) await openQueue(work.db, workspaceId, field)
}

type Stored = {
  present(db: Db, task: NewRow): Promise<Task>
  dueOf(task: NewRow): { row: DueRow; now: Date } | null
}

async function insert(db: Db, workspaceId: string, tasks: readonly NewRow[], arrivedAt: number): Promise<Stored> {
  const keyed = tasks.filter(hasKey)
  if (keyed.length === 0) return withoutKeys(await insertTasks(db, tasks), arrivedAt)
  return inTransaction(db, async tx => {
    const plain = withoutKeys(
      await insertTasks(
        tx,
        tasks.filter(task => !hasKey(task)),
      ),
      arrivedAt,
    )
    const results = await storeUnderKeys(tx, workspaceId, keyed)
    const byId = new Map(keyed.map((task, i) => [task.id, { task, result: results[i] as UnderKey }]))
    return {
      present(db, task) {
        const found = byId.get(task.id)
        return found ? presentUnderKey(db, found.task, found.result, arrivedAt) : plain.present(db, task)
      },
      dueOf(task) {
        const found = byId.get(task.id)
        return found ? dueUnderKey(found.task, found.result) : plain.dueOf(task)
      },
    }
  })
}

function withoutKeys(inserted: readonly InsertedTask[], arrivedAt: number): Stored {
  const byId = new Map(inserted.map(one => [one.id, one]))
  return {
    async present(_, task) {
      const stored = byId.get(task.id)
      if (!isStored(stored)) throw executeAtPassed(task.executeAt, arrivedAt)
      return presentNewTask(task, stored.createdAt.toISOString())
    },
    dueOf(task) {
      const stored = byId.get(task.id)
      return isStored(stored) ? { row: { ...task, dueAt: stored.executeAt }, now: stored.now } : null
    },
  }
}

async function answerRow(db: Db, row: Row, index: number, stored: Stored): Promise<BatchRow> {
  try {
    if (row instanceof AppError) throw row
    return { index, task: await stored.present(db, row) }
  } catch (error) {
    if (error instanceof AppError) return { index, error: toRowError(error) }
    throw error
  }
}

function toRowError({ code, message, errors }: AppError) {
  const { status, title } = problems[code]
  return { code, title, status, detail: message, ...(errors ? { errors: [...errors] } : {}) }
}
