import {
  type BatchRow,
  batchAnswer,
  createTaskBody,
  createTasksBody,
  parseInput,
  problems,
  type QueueField,
} from '@belfry/contract'
import { type Db, type InsertedTask, insertTasks } from '@belfry/db'
import { AppError, elementTexts } from '@belfry/domain'
import { creation, type Work } from '../http/creation.ts'
import { bodyLimits } from '../http/read-body.ts'
import { ok } from '../http/reply.ts'
import { openQueue } from '../queues/name-queue.ts'
import { withinLimit } from '../quotas/headroom.ts'
import { type Quota, readQuota, refuseLargePayload, refuseOverQuota } from '../quotas/quotas.ts'
import { enqueue } from './enqueue.ts'
import { executeAtNotFuture } from './execute-at.ts'
import { inspectNewTask, toNewTask } from './new-task.ts'
import { presentNewTask } from './present-task.ts'
import { recordOrigin } from './record-origin.ts'
import { isStored } from './store-task.ts'

// The rows lie two levels below the body.
const limits = { maxBytes: 5 * 1024 * 1024, maxDepth: bodyLimits.maxDepth + 2, maxKeys: 200_000 }

export const createTasks = creation({
  right: 'task.write',
  summary: 'Schedule up to 1,000 tasks; an invalid row does not affect the others',
  answer: { status: 200, body: batchAnswer },
  refusals: ['quota_exceeded'],
  body: createTasksBody,
  limits,
  async handle(work, { caller, body, bodyText, request }) {
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
    const inserted = await withinLimit(work, quota, objects, ({ db }) => insert(db, tasks))
    const due = tasks.flatMap(task => {
      const stored = inserted.get(task.id)
      return isStored(stored) ? [{ ...task, dueAt: stored.executeAt }] : []
    })
    const [first] = inserted.values()
    work.afterCommit(ctx => enqueue(ctx, due, first?.now ?? new Date(ctx.clock.now())))
    return ok({ data: rows.map((row, index) => answerRow(row, index, inserted)) })
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

async function insert(db: Db, tasks: readonly NewRow[]): Promise<Map<string, InsertedTask>> {
  const inserted = tasks.length === 0 ? [] : await insertTasks(db, tasks)
  return new Map(inserted.map(one => [one.id, one]))
}

function answerRow(row: Row, index: number, inserted: ReadonlyMap<string, InsertedTask>): BatchRow {
  if (row instanceof AppError) return { index, error: toRowError(row) }
  const stored = inserted.get(row.id)
  if (!isStored(stored)) return { index, error: toRowError(executeAtNotFuture()) }
  return { index, task: presentNewTask(row, stored.createdAt.toISOString()) }
}

function toRowError({ code, message, errors }: AppError) {
  const { status, title } = problems[code]
  return { code, title, status, detail: message, ...(errors ? { errors: [...errors] } : {}) }
}
