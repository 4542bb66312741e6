import type { Db } from '../postgres/in-transaction.ts'

const tables = {
  pendingTasks: { table: 'tasks', condition: `AND state = 'pending'` },
  cronJobs: { table: 'cron_jobs', condition: '' },
} as const

/** What of a workspace can be counted. */
export type CountedInWorkspace = keyof typeof tables

/** Counts what a workspace has, up to `most`. It reads that many entries of an index. */
export async function countInWorkspace(
  db: Db,
  what: CountedInWorkspace,
  workspaceId: string,
  most: number,
): Promise<number> {
  const { table, condition } = tables[what]
  const text = `
    SELECT count(*)::int AS n FROM (
      SELECT FROM ${table} WHERE workspace_id = $1 ${condition} LIMIT $2
    ) counted`
  const { rows } = await db.query<{ n: number }>({ name: `count_${table}`, text, values: [workspaceId, most] })
  return rows[0]?.n ?? 0
}
