import { randomBytes } from 'node:crypto'
import { isTransientDatabaseError } from '@belfry/db/postgres/database-errors'
import type { Pool } from '@belfry/db/postgres/pool'
import { insertKeyedTasks, type KeyedTask } from '@belfry/db/tasks/insert-keyed-tasks'
import { type InsertedTask, insertTasks, type NewTask } from '@belfry/db/tasks/insert-tasks'
import { microBatch } from '@belfry/runtime'

/** Marks the place of the creation time in a reply that is stored with its task. Random, so no caller can send it. */
export const timeMark = randomBytes(16).toString('hex')

/** Stores single tasks, those of many requests in one statement. */
export type InsertBatches = {
  insertTask(task: NewTask): Promise<InsertedTask>
  /** Stores the reply as well, whose times are `timeMark`. */
  insertKeyedTask(task: KeyedTask): Promise<InsertedTask>
}

/** @param onBatch - Called with the number of tasks in each statement. */
export function openInsertBatches(pool: Pool, onBatch: (count: number) => void): InsertBatches {
  const options = { maxSize: 100, maxInFlight: 2, split: (error: unknown) => !isTransientDatabaseError(error) }
  return {
    insertTask: microBatch({
      run: async (tasks: NewTask[]) => {
        onBatch(tasks.length)
        return inOrder(tasks, await insertTasks(pool, tasks))
      },
      ...options,
    }),
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
  return tasks.flatMap(({ id }) => rows.get(id) ?? [])
}
