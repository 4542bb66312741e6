import type { Db } from '../postgres/in-transaction.ts'
import { isLive } from './heartbeat.ts'

/** The processes that deliver tasks, by their heartbeats. */
export type ProcessState = {
  dispatchers: LiveProcesses
  schedulers: LiveProcesses
  /** How many calls all live dispatchers together may have in flight, and how many of these to one host. */
  slots: number
  permitsPerHost: number
}

/** `lastSeenAt` is the latest heartbeat; null if there is none. */
export type LiveProcesses = { live: number; lastSeenAt: Date | null }

type Row = { dispatchers: number; dispatcherAt: Date | null; schedulers: number; schedulerAt: Date | null } & Pick<
  ProcessState,
  'slots' | 'permitsPerHost'
>

/** Reads which dispatchers and schedulers had a heartbeat in the last five seconds. Quarantine processes do not count. */
export async function readProcessState(db: Db): Promise<ProcessState> {
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
  const { rows } = await db.query<Row>({ name: 'read_process_state', text })
  const row = rows[0]
  return {
    dispatchers: { live: row?.dispatchers ?? 0, lastSeenAt: row?.dispatcherAt ?? null },
    schedulers: { live: row?.schedulers ?? 0, lastSeenAt: row?.schedulerAt ?? null },
    slots: row?.slots ?? 0,
    permitsPerHost: row?.permitsPerHost ?? 0,
  }
}
