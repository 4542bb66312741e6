import type { Pool } from './pool.ts'

/** Settings under which PostgreSQL may lose what it has committed; null where the server does not have one. */
export type DurabilitySettings = {
  fsync: string | null
  fullPageWrites: string | null
  synchronousCommit: string | null
  synchronousStandbys: string | null
}

/** Finds the settings of a server, as this role has them, under which it may lose tasks that it has committed. */
export async function inspectDatabase(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<DurabilitySettings>(
    `SELECT current_setting('fsync', true) AS fsync, current_setting('full_page_writes', true) AS "fullPageWrites",
            current_setting('synchronous_commit', true) AS "synchronousCommit",
            current_setting('synchronous_standby_names', true) AS "synchronousStandbys"`,
  )
  return rows.flatMap(judgeDatabase)
}

/** Logs, in one line, the settings under which the server may lose tasks. Never rejects: a service starts all the same. */
export async function warnOfUnfitDatabase(
  pool: Pool,
  log: { warn(fields: object, event: string): void },
): Promise<void> {
  try {
    const advice = await inspectDatabase(pool)
    if (advice.length > 0) log.warn({ advice }, 'database.unfit')
  } catch (error) {
    log.warn({ err: error }, 'connection.error')
  }
}

export function judgeDatabase(settings: DurabilitySettings): string[] {
  const { fsync, fullPageWrites, synchronousCommit, synchronousStandbys } = settings
  const findings: string[] = []
  if (fsync === 'off') {
    findings.push('fsync is off: a crash of the machine loses tasks and may destroy the database. Set it to on.')
  }
  if (fullPageWrites === 'off') {
    findings.push('full_page_writes is off: a crash of the machine may destroy the database. Set it to on.')
  }
  if (synchronousCommit === 'off') {
    findings.push('synchronous_commit is off: a crash loses tasks that were accepted. Set it to on.')
  }
  if (synchronousCommit === 'local' && synchronousStandbys) {
    findings.push('synchronous_commit is local: a failover to a standby loses tasks that were accepted. Set it to on.')
  }
  return findings
}
