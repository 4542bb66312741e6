import { randomUUID } from 'node:crypto'
import { lateMs } from '@belfry/domain/cron/plan-occurrences'
import type { Db } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { isInFlight } from '../tasks/task-row.ts'
import { leaseFloor } from '../tasks/waiting-floor.ts'

/** The heartbeat of a dispatcher. `beats` increases each second; null when only claims of the dispatcher are left. */
export type Heartbeat = { id: string; beats: number | null }

export type DispatcherRow = Awaited<ReturnType<typeof enterDispatchers>>

/** What a dispatcher publishes about itself. `slots`: calls in flight in all; `permitsPerHost`: to one host, from all
 * dispatchers together. */
export type DispatcherCapacity = { slots: number; permitsPerHost: number }

/** Returns SQL: the process of a row had a heartbeat within the last five seconds. */
export function isLive(alias: string): string {
  return `${alias}.seen_at > clock_timestamp() - interval '5 seconds'`
}

type Beaten = { hasRow: boolean; isStarted: boolean; at: Date; live: string[] }

/**
 * Registers this process as a dispatcher.
 * @param quarantine - Whether it attempts quarantined tasks only. Default: false.
 * @param capacity - Default: not published.
 * @param onStart - Runs before the dispatcher takes tasks, at first and after each time without heartbeats. Optional.
 */
export async function enterDispatchers(
  pool: Pool,
  quarantine = false,
  capacity: DispatcherCapacity | null = null,
  onStart: () => Promise<unknown> = async () => {},
) {
  const id = randomUUID()
  let session = randomUUID()
  let seenAt: Date | null = null
  const enter = (openSends: Iterable<string>) => {
    const { slots = null, permitsPerHost = null } = capacity ?? {}
    return pool.query(enterStatement, [id, session, [...openSends], quarantine, slots, permitsPerHost, seenAt])
  }
  await onStart()
  await enter([])
  return {
    id,
    /**
     * Each send of a prefetched claim names the session. It changes when the row was gone: a scheduler may have undone
     * claims.
     */
    get session(): string {
      return session
    },
    /**
     * Writes a heartbeat. The dispatcher calls it each second. When its row is gone, it enters again, in a new session and
     * with a journal entry for its open sends: PostgreSQL may have crashed and emptied both tables. A dispatcher that had no
     * heartbeat for ten seconds starts again: `onStart` of `enterDispatchers` runs before this resolves.
     * @param takesTasks - False while the process shuts down; the others then divide its share. Default: true.
     * @returns The sorted ids of the dispatchers that take waiting tasks and had a heartbeat in the last three seconds.
     * Quarantine processes are not among them.
     */
    async beat(openSends: () => Iterable<string>, takesTasks = true): Promise<string[]> {
      for (let starts = !takesTasks; ; ) {
        const values = [id, takesTasks, starts]
        const { rows } = await pool.query<Beaten>({ name: 'beat', text: beatStatement, values })
        const [beaten] = rows
        if (!beaten?.hasRow) {
          session = randomUUID()
          await enter(openSends())
        } else if (beaten.isStarted) {
          seenAt = beaten.at
          return beaten.live
        } else {
          await onStart()
          starts = true
        }
      }
    },
  }
}

/** Reads the heartbeats of all dispatchers, and of those that have claims but no row because PostgreSQL has restarted. */
export async function readHeartbeats(db: Db): Promise<Heartbeat[]> {
  const { rows } = await db.query<Heartbeat>({ name: 'read_heartbeats', text: heartbeatsStatement })
  return rows
}

// `seq` 0: the entry of earlier sessions precedes all others.
const enterStatement = `
  WITH entered AS (
    INSERT INTO dispatchers (id, session, quarantine, slots, permits_per_host, seen_at)
    VALUES ($1, $2, $4, $5, $6, coalesce($7, clock_timestamp())) RETURNING id
  )
  INSERT INTO sends (dispatcher_id, seq, run_ids) SELECT id, 0, $3::uuid[] FROM entered WHERE cardinality($3::uuid[]) > 0`

const isRecent = `seen_at > clock_timestamp() - interval '${lateMs} milliseconds'`

// The SELECT sees the row before the update, so it takes its own id from `beaten`. `seen_at` is the last heartbeat at which
// the dispatcher took tasks. An old one stays until the dispatcher starts again: PostgreSQL may have kept this statement
// waiting for minutes. A heartbeat waits for no disk, no standby and no other transaction: what `kept` misses, the next one has.
const beatStatement = `
  WITH beaten AS (
    UPDATE dispatchers
    SET beats = beats + 1, started_at = CASE WHEN $3 THEN clock_timestamp() ELSE started_at END,
        seen_at = CASE WHEN NOT $2 THEN '-infinity' WHEN $3 OR ${isRecent} THEN clock_timestamp() ELSE seen_at END
    WHERE id = $1 RETURNING id, quarantine, seen_at
  ),
  kept AS (
    UPDATE dispatching k
    SET seen_at = CASE WHEN $2 THEN b.seen_at ELSE k.seen_at END, ended_at = CASE WHEN $2 THEN k.ended_at ELSE before.seen_at END
    FROM beaten b JOIN dispatchers before USING (id) CROSS JOIN LATERAL (
      SELECT id, set_config('synchronous_commit', 'off', true) FROM dispatching
      WHERE NOT b.quarantine
        AND CASE WHEN $2 THEN b.seen_at > seen_at + interval '5 seconds' ELSE before.seen_at > ended_at END
      FOR UPDATE SKIP LOCKED
    ) free
    WHERE k.id = free.id
  )
  SELECT EXISTS (SELECT FROM beaten) AS "hasRow", EXISTS (SELECT FROM beaten WHERE NOT $2 OR ${isRecent}) AS "isStarted",
         clock_timestamp() AS at, ARRAY(
    SELECT id FROM dispatchers
    WHERE id <> $1 AND NOT quarantine AND seen_at > clock_timestamp() - interval '3 seconds'
    UNION SELECT id FROM beaten WHERE NOT quarantine
    ORDER BY id
  ) AS live`

export const heartbeatsStatement = `
  SELECT id, beats::float8 AS beats FROM dispatchers
  UNION ALL
  SELECT DISTINCT t.dispatcher_id, NULL::float8 FROM tasks t
  WHERE ${isInFlight} AND t.lease_until >= ${leaseFloor} AND t.dispatcher_id IS NOT NULL
    AND NOT EXISTS (SELECT FROM dispatchers d WHERE d.id = t.dispatcher_id)`

/** When a dispatcher took tasks, in epoch milliseconds by the clock of PostgreSQL. */
export type Lifetime = { from: number; to: number }

/**
 * Reads when the other dispatchers took tasks. Dispatchers that shut down, or that a scheduler has ended, are not
 * included.
 */
export async function readLifetimes(db: Db, exceptId: string): Promise<Lifetime[]> {
  const { rows } = await db.query<Lifetime>({
    name: 'read_lifetimes',
    text: `
      SELECT extract(epoch FROM started_at)::float8 * 1000 AS "from", extract(epoch FROM seen_at)::float8 * 1000 AS "to"
      FROM dispatchers WHERE id <> $1 AND NOT quarantine AND seen_at > '-infinity'`,
    values: [exceptId],
  })
  return rows
}
