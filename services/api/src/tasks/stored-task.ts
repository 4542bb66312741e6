import { type InsertedTask, insertTasks, type Transaction } from '@belfry/db'
import type { Context } from '../context.ts'
import type { StoreTask } from '../http/creation.ts'
import { executeAtNotFuture } from './execute-at.ts'

/** What the database says about a task that it took in. */
export type StoredTask = InsertedTask & { createdAt: Date }

/** True unless the database refused the task because its time had come already. */
export function isStored(inserted: InsertedTask | undefined): inserted is StoredTask {
  return inserted !== undefined && inserted.createdAt !== null
}

/** Stores a task by a statement that it shares with others. */
export function storeAlone(ctx: Pick<Context, 'insertTask'>): StoreTask {
  return async (task, present) => answer(await ctx.insertTask(task), present)
}

/** Stores a task in a transaction. */
export function storeIn(tx: Transaction): StoreTask {
  return async (task, present) => {
    const [inserted] = await insertTasks(tx, [task])
    return answer(inserted, present)
  }
}

function answer(inserted: InsertedTask | undefined, present: Parameters<StoreTask>[1]) {
  if (!inserted) throw new Error('The insert did not tell what became of the task.')
  if (!isStored(inserted)) throw executeAtNotFuture()
  return { stored: inserted, reply: present(inserted.createdAt.toISOString()) }
}
