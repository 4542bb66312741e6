import { hostOf } from '@belfry/domain/target-url'
import { LRUCache } from 'lru-cache'
import type { IncomingTask } from './task-buffer.ts'

/** The origin of a task's URL, as it is spelled there, and the host and port that it names, in one spelling. */
export type Target = { readonly origin: string; readonly host: string }

const targets = new LRUCache<string, Target>({ max: 10_000 })

/**
 * Returns the target that an origin names. An origin with a reference to a secret, or an invalid one, is its own host. Tasks
 * of a recent origin get the same object, so thousands of them share its strings.
 */
export function targetOf(origin: string): Target {
  const cached = targets.get(origin)
  if (cached) return cached
  const target = { origin, host: hostOf(origin) }
  targets.set(origin, target)
  return target
}

/** @param dueAt - Epoch milliseconds by the database's clock. */
export function incomingTask(id: string, workspace: string, dueAt: number, ofUrl: string): IncomingTask {
  const { origin, host } = targetOf(ofUrl)
  return { id, workspace, dueAt, origin, host }
}

export function toIncomingTask(row: { id: string; workspaceId: string; dueAt: Date; origin: string }): IncomingTask {
  return incomingTask(row.id, row.workspaceId, row.dueAt.getTime(), row.origin)
}
