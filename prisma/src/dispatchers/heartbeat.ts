import { randomUUID } from 'node:crypto'
import type { Db } from '../postgres/in-transaction.ts'
import type { Pool } from '../postgres/pool.ts'
import { isHeldLease } from '../tasks/task-row.ts'
import { leaseFloor } from '../tasks/waiting-floor.ts'

/** A dispatcher as the others see it. `beats` counts up every second while it lives; null when only its claims are left. */
export type Heartbeat = { id: string; beats: number | null }

/** Keeps this process's row in `dispatchers` fresh. */
export type DispatcherRow = {
  readonly id: string
  /** What a prefetched claim has to name when it is sent. Changes when the row was gone: a scheduler may have undone the claim. */
  readonly session: string
  /**
   * Shows the others that this process lives. To be called every second. Where its row is gone, it enters again, in a new
   * session and with a journal entry for what it has sent: PostgreSQL may have crashed and emptied both tables.
   * @param takesTasks - False once it is to stop: it lives until its calls have ended, and the others divide its share. Default true.
   * @returns The ids of the dispatchers that take waiting tasks and had a heartbeat in the last three seconds, in order.
   * Processes of the quarantine are none of them.
   */
  beat(openSends: () => Iterable<string>, takesTasks?: boolean): Promise<string[]>
}

/**
 * Enters this process among the dispatchers.
 * @param quarantine - Whether it makes attempts of quarantined tasks only. Default false.
 */
export async function enterDispatchers(pool: Pool, quarantine = false): Promise<DispatcherRow> {
  const id = randomUUID()
  let session = randomUUID()
  const enter = (openSends: Iterable<string>) => pool.query(enterStatement, [id, session, [...openSends], quarantine])
  await enter([])
  return {
    id,
    get session() {
      return session
    },
    async beat(openSends, takesTasks = true) {
      const beat = () =>
        pool.query<{ hasRow: boolean; live: string[] }>({ name: 'beat', text: beatStatement, values: [id, takesTasks] })
      const { rows } = await beat()
      if (rows[0]?.hasRow) return rows[0].live
      session = randomUUID()
      await enter(openSends())
      return (await beat()).rows[0]?.live ?? []
    },
  }
}

/** The heartbeats of all dispatchers, and of those that have claims but no row: PostgreSQL has restarted since. */
export async function readHeartbeats(db: Db): Promise<Heartbeat[]> {
  const { rows } = await db.query<Heartbeat>({ name: 'read_heartbeats', text: heartbeatsStatement })
  return rows
}

// Entries of an earlier session stand before all others.
const enterStatement = `
  WITH entered AS (INSERT INTO dispatchers (id, session, quarantine) VALUES ($1, $2, $4) RETURNING id)
  INSERT INTO sends (dispatcher_id, seq, run_ids) SELECT id, 0, $3::uuid[] FROM entered WHERE cardinality($3::uuid[]) > 0`

// The statement sees its own row as it was before. `seen_at` is when the dispatcher was last there to take tasks.
const beatStatement = `
  WITH beaten AS (
    UPDATE dispatchers SET beats = beats + 1, seen_at = CASE WHEN $2 THEN clock_timestamp() ELSE '-infinity' END
    WHERE id = $1 RETURNING id, quarantine
  )
  SELECT EXISTS (SELECT FROM beaten) AS "hasRow", ARRAY(
    SELECT id FROM dispatchers
    WHERE id <> $1 AND NOT quarantine AND seen_at > clock_timestamp() - interval '3 seconds'
    UNION SELECT id FROM beaten WHERE NOT quarantine
    ORDER BY id
  ) AS live`

const heartbeatsStatement = `
  SELECT id, beats::float8 AS beats FROM dispatchers
  UNION ALL
  SELECT DISTINCT t.dispatcher_id, NULL::float8 FROM tasks t
  WHERE t.state = 'processing' AND t.lease_until >= ${leaseFloor} AND t.dispatcher_id IS NOT NULL AND NOT t.${isHeldLease}
    AND NOT EXISTS (SELECT FROM dispatchers d WHERE d.id = t.dispatcher_id)`
