import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { dueIntegrationsStatement, notifyIntegrations } from '../src/integrations/notify-integrations.ts'
import { addWorkspace, anOrganization, useOwnDatabase } from './setup.ts'

const db = useOwnDatabase()

it('reads only integrations of workspaces with events', async () => {
  const { organizationId, workspaceId } = await anOrganization(db.pool)
  await integrate(workspaceId)
  for (let i = 0; i < 3; i++) await integrate(await addWorkspace(db.pool, organizationId), 1_000)
  await db.pool.query('UPDATE integrations SET has_news = false')
  await db.pool.query('ANALYZE integrations')
  await db.pool.query(
    `INSERT INTO tasks (id, workspace_id, source, state, execute_at, due_at, finished_at)
     VALUES ($1, $2, 'task', 'dead', now(), now(), now())`,
    [randomUUID(), workspaceId],
  )
  const seen: string[] = []
  const round = await notifyIntegrations(
    db.pool,
    async (tx, news) => {
      const marked = await tx.query('SELECT FROM integrations WHERE has_news')
      seen.push(...news.map(one => one.workspaceId), `${marked.rowCount} marked`)
      return []
    },
    0,
  )
  expect(round).toEqual({ notified: 1, hasMore: false })
  expect(seen).toEqual([workspaceId, '1 marked'])
  const { rows } = await db.pool.query(`EXPLAIN (FORMAT JSON) ${dueIntegrationsStatement}`, [50])
  expect(JSON.stringify(rows)).toContain('integrations_news_idx')
})

async function integrate(workspaceId: string, count = 1): Promise<void> {
  const dataKey = `INSERT INTO data_keys (workspace_id, version, master_key_id, wrapped_key) VALUES ($1, 1, 'k1', '')`
  await db.pool.query(dataKey, [workspaceId])
  await db.pool.query(
    `INSERT INTO integrations (id, workspace_id, name, channel, events, sealed_target, key_version, shown_target, told_until)
     SELECT gen_random_uuid(), $1, 'On call', 'webhook', '{task.dead}', '', 1, 'example.com', now() - interval '1 minute'
     FROM generate_series(1, $2::int)`,
    [workspaceId, count],
  )
}
