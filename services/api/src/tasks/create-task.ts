import { parseInput } from '@belfry/contract/field-errors'
import { operations } from '@belfry/contract/operations'
import { problems } from '@belfry/contract/problem'
import { createTaskBody } from '@belfry/contract/task'
import type { BatchRow } from '@belfry/contract/task-batch'
import { hasControls } from '@belfry/db/tasks/insert-tasks'
import { AppError } from '@belfry/domain/app-error'
import { elementTexts } from '@belfry/domain/json-text'
import { decide } from '@belfry/domain/permissions'
import { mapInTurns } from '@belfry/domain/slices'
import { presentNewTask } from '@belfry/present/task-form'
import { failpoint } from '@belfry/runtime'
import { creation, type Work } from '../endpoint.ts'
import { bodyLimits } from '../http/read-body.ts'
import { ApiResponse, created } from '../http/response.ts'
import { planQueues } from '../queues/queues.ts'
import { type Quota, readQuota, refuseLargePayload } from '../quotas/quotas.ts'
import { requireSecretUse } from '../secrets/require-secret-use.ts'
import { inspectTask, toControls, toNewTask, toRequestOptions, withLocalTime } from './new-task.ts'
import { schedule } from './schedule.ts'
import { findUnderKeys, hasKey, isNew, presentStored, storeTask, storeTasks } from './store-tasks.ts'

export const createTask = creation(operations.createTask, {
  // The local time of a task that is due at once depends on when it is stored.
  storesResponse: body =>
    !(body.timezone && body.on_past === 'run') && !hasControls(Object.assign(toControls(body), toRequestOptions(body))),
  inspect: inspectTask,
  async handle(work, input) {
    const { body, bodyText, arrivedAt, caller } = input
    const task = toNewTask(caller.workspaceId, body, bodyText, arrivedAt)
    const list = '/api/v1/scheduler/tasks'
    const { response } = await schedule(work, input, {
      starts: 'later',
      rows: [task],
      repeats: hasKey(task) ? 1 : 0,
      payload: task.payload,
      queues: [body.queue],
      async store(work) {
        if (__FAILPOINTS__) await failpoint('api.before_insert')
        if (hasKey(task)) {
          const { results, ...stored } = await storeTasks(work, [task])
          const found = await findUnderKeys(work.db, caller.workspaceId, results)
          const presented = withLocalTime(presentStored(task, results[0], found, arrivedAt), body.timezone)
          return {
            response: isNew(results[0]) ? created(list, presented) : new ApiResponse({ status: 200, body: presented }),
            ...stored,
          }
        }
        const storing = storeTask(work, task, arrivedAt, createdAt => {
          const presented = withLocalTime(presentNewTask(task, createdAt), body.timezone)
          return created(list, presented)
        })
        if (__FAILPOINTS__) await failpoint('api.in_insert')
        return storing
      },
    })
    return response
  },
})

// The rows lie two levels below the body.
const limits = { maxBytes: 5 * 1024 * 1024, maxDepth: bodyLimits.maxDepth + 2, maxKeys: 200_000 }

export const createTasks = creation(operations.createTasks, {
  limits,
  async handle(work, input) {
    const { caller, body, bodyText, arrivedAt } = input
    const quota = await readQuota(work, caller.organizationId)
    const texts = elementTexts(bodyText, ['tasks']) ?? []
    const mayLimit = decide(caller.actor, 'queue.write').allowed
    const rows = await mapInTurns(body.tasks, (row, i) =>
      orRefusal(async () => {
        const read = readRow(work, quota, input, row, texts[i] ?? '')
        await requireSecretUse(work.db, caller, [read.task])
        if (!mayLimit && typeof read.queue === 'object') await planQueues(work.db, caller, [read.queue])
        return read
      }),
    )
    const good = rows.flatMap(row => (row instanceof AppError ? [] : [row]))
    const tasks = good.map(({ task }) => task)
    // The good rows are stored atomically.
    const { results } = await schedule(work, input, {
      starts: 'later',
      rows: tasks,
      repeats: tasks.filter(hasKey).length,
      queues: good.map(({ queue }) => queue),
      store: work => storeTasks(work, tasks),
    })
    const resultOf = new Map(tasks.map((task, i) => [task, results[i]]))
    const found = await findUnderKeys(work.db, caller.workspaceId, results)
    const data = await mapInTurns(rows, async (row, index): Promise<BatchRow> => {
      if (row instanceof AppError) return { index, error: toRowError(row) }
      const { task, timezone } = row
      const stored = await orRefusal(() => presentStored(task, resultOf.get(task), found, arrivedAt))
      return stored instanceof AppError
        ? { index, error: toRowError(stored) }
        : { index, task: withLocalTime(stored, timezone) }
    })
    return new ApiResponse({ status: 200, body: { data } })
  },
})

type BatchInput = { caller: { workspaceId: string }; arrivedAt: number }

function readRow(work: Work, quota: Quota, { caller, arrivedAt }: BatchInput, row: unknown, text: string) {
  if (Buffer.byteLength(text) > bodyLimits.maxBytes) {
    throw new AppError('payload_too_large', `A task may have at most ${bodyLimits.maxBytes} bytes.`)
  }
  const parsed = parseInput(createTaskBody, row)
  const schemaErrors = parsed.ok ? [] : parsed.errors
  const errors = [...schemaErrors, ...inspectTask(work, row, schemaErrors)]
  if (!parsed.ok || errors.length > 0) {
    throw new AppError('validation_failed', 'The task is invalid; see errors.', { errors })
  }
  const task = toNewTask(caller.workspaceId, parsed.value, text, arrivedAt)
  refuseLargePayload(quota, task.payload)
  return { task, queue: parsed.value.queue, timezone: parsed.value.timezone }
}

/** Runs something, and returns the refusal that it throws. */
export async function orRefusal<T>(run: () => T | Promise<T>): Promise<T | AppError> {
  try {
    return await run()
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
}

function toRowError({ code, message, errors }: AppError) {
  const { status, title } = problems[code]
  return { code, title, status, detail: message, ...(errors ? { errors: [...errors] } : {}) }
}
