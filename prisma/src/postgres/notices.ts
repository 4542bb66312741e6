/** Channels of notifications to dispatchers, from the triggers notify_due_task, notify_outbox and notify_tenants. */
export const dueTaskChannel = 'belfry_due_task'
export const outboxChannel = 'belfry_outbox'
export const tenantsChannel = 'belfry_tenants'
/** Circuit breakers of hosts have opened or closed: see `host-circuits.ts`. */
export const circuitsChannel = 'belfry_circuits'
/** A test of a connection waits: see `connection-tests.ts`. */
export const connectionTestsChannel = 'belfry_connection_tests'

/** A task that is due within 15 seconds. The ids are UUIDs; `dueAt` is in epoch milliseconds of the database's clock.
 * `isQueued`: its queue has a limit. */
export type DueNotice = { id: string; dueAt: number; workspaceId: string; origin: string | null; isQueued: boolean }

/** Parses the payload of a notification on `dueTaskChannel`. Returns null for an invalid payload. */
export function parseDueNotice(payload: string): DueNotice | null {
  const [dueAt = '', id = '', workspaceId = '', origin = null, word] = payload.split(' ')
  if (!/^\d+$/.test(dueAt) || workspaceId === '') return null
  return { id, dueAt: Number(dueAt), workspaceId, origin, isQueued: word === 'queue' }
}
