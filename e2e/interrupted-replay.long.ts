import { queueBackends, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { startBelfry } from './belfry.ts'

const deadLetters = '/api/v1/scheduler/dead-letters'

it.each(queueBackends())(
  'a replay of 1,200 dead letters continues after kill -9 of the scheduler, and sends each once, with the queue on %s',
  async backend => {
    const target = await startReceiver()
    onTestFinished(() => target.close())
    const belfry = await startBelfry(backend)
    onTestFinished(() => belfry.close())
    const db = new pg.Client({ connectionString: belfry.databaseUrl })
    await db.connect()
    try {
      await storeDeadLetters(db, 1200, target.url('/many'))
      // Delays the second batch while it is written.
      await db.query('BEGIN')
      await db.query(`SELECT FROM tasks WHERE id = (
        SELECT id FROM tasks WHERE state = 'dead' AND settled_at IS NULL ORDER BY id OFFSET 700 LIMIT 1) FOR UPDATE`)
      const { headers } = await belfry.call('POST', `${deadLetters}/replay`, { filter: { topic: 'many' } })
      const path = headers.get('location') ?? ''
      const progress = async () => (await belfry.call('GET', path)).body
      expect(await waitFor(progress, ({ settled }) => settled > 0)).toMatchObject({ total: 1200, settled: 500 })
      await belfry.services.find(({ name }) => name === 'scheduler')?.stop('SIGKILL')
      await db.query('COMMIT')
      expect(await progress()).toMatchObject({ settled: 500, status: 'running' })
      await belfry.start('scheduler')
      expect(await waitFor(progress, ({ status }) => status === 'done')).toMatchObject({ settled: 1200 })
      await target.waitFor(() => target.requestsTo('/many').length >= 1200, 60_000)
      const { rows } = await db.query(`SELECT count(DISTINCT replay_of)::int AS "deadLetters", count(*)::int AS tasks
        FROM tasks JOIN task_requests ON task_id = id WHERE replay_of IS NOT NULL AND topic = 'many'`)
      expect(rows).toEqual([{ deadLetters: 1200, tasks: 1200 }])
      expect(target.requestsTo('/many')).toHaveLength(1200)
    } finally {
      await db.end()
    }
  },
  90_000,
)

async function storeDeadLetters(db: pg.Client, count: number, url: string): Promise<void> {
  const workspace = `SELECT id FROM workspaces LIMIT 1`
  await db.query(
    `WITH stored AS (
       INSERT INTO tasks (id, workspace_id, source, state, execute_at, due_at, finished_at)
       SELECT gen_random_uuid(), (${workspace}), 'event', 'dead', now(), now(), now() FROM generate_series(1, $1)
       RETURNING id
     )
     INSERT INTO task_requests (task_id, name, url, method, max_retries, backoff, base_delay_ms, max_delay_ms,
                                timeout_ms, topic)
     SELECT id, 'A', $2, 'POST', 0, 'fixed', 1000, 1000, 30000, 'many' FROM stored`,
    [count, url],
  )
}
