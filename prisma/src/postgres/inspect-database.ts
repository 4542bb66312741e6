import type { Pool } from './pool.ts'

/** Settings that affect durability; null when the server does not have a setting. */
export type DurabilitySettings = Record<
  'fsync' | 'fullPageWrites' | 'synchronousCommit' | 'synchronousStandbys',
  string | null
>

/** Returns advice on settings, as this role has them, with which the server may lose committed tasks. */
export async function inspectDatabase(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<DurabilitySettings>(
    `SELECT current_setting('fsync', true) AS fsync, current_setting('full_page_writes', true) AS "fullPageWrites",
            current_setting('synchronous_commit', true) AS "synchronousCommit",
            current_setting('synchronous_standby_names', true) AS "synchronousStandbys"`,
  )
  return rows.flatMap(judgeDatabase)
}

export function judgeDatabase(settings: DurabilitySettings): string[] {
  const { fsync, fullPageWrites, synchronousCommit, synchronousStandbys } = settings
  const isLocal = synchronousCommit === 'local' && synchronousStandbys
  return [
    fsync === 'off' && 'fsync is off: a crash of the machine loses tasks and may destroy the database.',
    fullPageWrites === 'off' && 'full_page_writes is off: a crash of the machine may destroy the database.',
    synchronousCommit === 'off' && 'synchronous_commit is off: a crash loses tasks that were accepted.',
    isLocal && 'synchronous_commit is local: a failover to a standby loses tasks that were accepted.',
  ].flatMap(finding => (finding ? [`${finding} Set it to on.`] : []))
}
