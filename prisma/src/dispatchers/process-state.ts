import type { Db } from '../postgres/in-transaction.ts'
import { type DispatcherCapacity, isLive } from './heartbeat.ts'

type Heartbeats = { dispatchers: number; dispatcherAt: Date | null; schedulers: number; schedulerAt: Date | null }
type State = Heartbeats & DispatcherCapacity

/**
 * Reads how many dispatchers and schedulers had a heartbeat in the last five seconds, and when the last one was, however long
 * ago; null if there was none. Also reads the slots of all live dispatchers together, and the most permits that one of them has
 * per host. Quarantine processes do not count.
 */
export async function readProcessState(db: Db) {
  // A stopping dispatcher has stopped taking tasks. Its row has the time -infinity.
  const text = `
    SELECT * FROM (
      SELECT count(*) FILTER (WHERE ${isLive('d')})::int AS dispatchers,
             max(seen_at) FILTER (WHERE seen_at > '-infinity') AS "dispatcherAt",
             coalesce(sum(slots) FILTER (WHERE ${isLive('d')}), 0)::int AS slots,
             coalesce(max(permits_per_host) FILTER (WHERE ${isLive('d')}), 0) AS "permitsPerHost"
      FROM dispatchers d WHERE NOT quarantine
    ) d, (
      SELECT count(*) FILTER (WHERE ${isLive('s')})::int AS schedulers, max(seen_at) AS "schedulerAt" FROM schedulers s
    ) s`
  const { rows } = await db.query<State>({ name: 'read_process_state', text })
  const { dispatchers, dispatcherAt, schedulers, schedulerAt, ...capacity } = rows[0] as State // aggregates always return a row
  return {
    dispatchers: { live: dispatchers, lastSeenAt: dispatcherAt },
    schedulers: { live: schedulers, lastSeenAt: schedulerAt },
    ...capacity,
  }
}
