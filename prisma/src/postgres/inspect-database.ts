import type { Pool } from './pool.ts'

/** Settings that affect durability; null when the server does not have a setting. */
export type DurabilitySettings = {
  fsync: string | null
  fullPageWrites: string | null
  synchronousCommit: string | null
  synchronousStandbys: string | null
}

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
