import type { Db } from '../postgres/in-transaction.ts'

/**
 * The windows in which the attempts at a host are counted: their length in whole periods of statistics, the current
 * included.
 */
const windows = {
  five_minutes: { minutes: 1, count: 5 },
  hour: { minutes: 1, count: 60 },
  day: { minutes: 60, count: 24 },
} as const

export type HostWindow = keyof typeof windows

export const hostWindows = Object.keys(windows) as HostWindow[] // the keys of the record

export type HostCount = { host: string; window: HostWindow; attempts: number; failed: number; totalDurationMs: number }

const minuteMs = 60_000

/** Counts the attempts of a workspace in each window by the host, as the URL spells it. */
export async function countHosts(db: Db, workspaceId: string, nowMs: number): Promise<HostCount[]> {
  const text = `
    SELECT w.name AS window, s.host, sum(s.total)::float8 AS attempts, sum(s.failed)::float8 AS failed,
           sum(s.duration_ms)::float8 AS "totalDurationMs"
    FROM unnest($2::text[], $3::smallint[], $4::timestamptz[]) AS w (name, period, since)
    JOIN host_statistics s ON s.workspace_id = $1 AND s.period = w.period AND s.starts_at >= w.since
    GROUP BY 1, 2 HAVING sum(s.total) > 0`
  const all = hostWindows.map(name => windows[name])
  const since = all.map(({ minutes, count }) => {
    const periodMs = minutes * minuteMs
    return new Date((Math.floor(nowMs / periodMs) + 1 - count) * periodMs)
  })
  const values = [workspaceId, hostWindows, all.map(({ minutes }) => minutes), since]
  return (await db.query<HostCount>({ name: 'count_hosts', text, values })).rows
}
