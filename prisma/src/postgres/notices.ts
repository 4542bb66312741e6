/** The channels on which PostgreSQL notifies dispatchers: migration 20261123060000 has the triggers. */
export const dueTaskChannel = 'belfry_due_task'
export const outboxChannel = 'belfry_outbox'

/** How long before a task is due PostgreSQL notifies dispatchers of it at the earliest. */
export const noticeAheadMs = 15_000

/** A task that has become due, or will within 15 seconds. UUIDs; `dueAt` in epoch milliseconds by the database's clock. */
export type DueNotice = { id: string; dueAt: number; workspaceId: string; origin: string | null }

/** Reads the payload of a notification on `dueTaskChannel`; null when it is not one. */
export function parseDueNotice(payload: string): DueNotice | null {
  const [dueAt = '', id = '', workspaceId = '', origin = null] = payload.split(' ')
  if (!/^\d+$/.test(dueAt) || workspaceId === '') return null
  return { id, dueAt: Number(dueAt), workspaceId, origin }
}
