import { randomBytes } from 'node:crypto'
import {
  type InsertedTask,
  insertKeyedTasks,
  insertTasks,
  isTransientDatabaseError,
  type KeyedTask,
  type NewTask,
  type Pool,
} from '@belfry/db'
import { microBatch } from '@belfry/runtime'

/** Stands in an answer that is kept where the time of the creation belongs. Random, so that no caller can have meant it. */
export const timeMark = randomBytes(16).toString('hex')

/** What stores single tasks, many requests to a statement. */
export type InsertBatches = {
  insertTask(task: NewTask): Promise<InsertedTask>
  /** The same with the answer, whose times are `timeMark`. */
  insertKeyedTask(task: KeyedTask): Promise<InsertedTask>
}

/** @param onBatch - Told the size of each statement. */
export function openInsertBatches(pool: Pool, onBatch: (count: number) => void): InsertBatches {
  const options = { maxSize: 100, maxInFlight: 2, split: (error: unknown) => !isTransientDatabaseError(error) }
  return {
    insertTask: microBatch({
      ...options,
      run: async (tasks: NewTask[]) => {
        onBatch(tasks.length)
        return inOrder(tasks, await insertTasks(pool, tasks))
      },
    }),
    insertKeyedTask: microBatch({
      ...options,
      run: async (keyed: KeyedTask[]) => {
        onBatch(keyed.length)
        const tasks = keyed.map(({ task }) => task)
        return inOrder(tasks, await insertKeyedTasks(pool, keyed, timeMark))
      },
    }),
  }
}

function inOrder(tasks: NewTask[], inserted: InsertedTask[]): InsertedTask[] {
  const rows = new Map(inserted.map(row => [row.id, row]))
  return tasks.flatMap(({ id }) => rows.get(id) ?? [])
}
