import type { Db } from '../postgres/in-transaction.ts'

const tables = {
  pendingTasks: { table: 'tasks', condition: `AND state = 'pending'` },
  cronJobs: { table: 'cron_jobs', condition: '' },
} as const

/** The things of a workspace that can be counted. */
export type CountedInWorkspace = keyof typeof tables

/** Counts things of a workspace, up to `max`. It reads that many entries of an index. */
export async function countInWorkspace(
  db: Db,
  kind: CountedInWorkspace,
  workspaceId: string,
  max: number,
): Promise<number> {
  const { table, condition } = tables[kind]
  const text = `
    SELECT count(*)::int AS n FROM (
      SELECT FROM ${table} WHERE workspace_id = $1 ${condition} LIMIT $2
    ) counted`
  const { rows } = await db.query<{ n: number }>({ name: `count_${table}`, text, values: [workspaceId, max] })
  return rows[0]?.n ?? 0
}
