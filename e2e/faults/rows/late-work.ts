import { randomUUID } from 'node:crypto'
import type { Fixture } from '../fixture/fixture.ts'
import { untilInState } from '../fixture/moments.ts'
import { uuidOf } from '../fixture/task-uuid.ts'
import type { Row } from '../row.ts'

const workspaces = 6_000
const latenessMs = 60_000

/** A task whose job was never added, among many workspaces that wait for next year. */
export const lateWork: Row[] = [['S32', true, 'Redis is there'] as const, ['S33', false, 'Redis is away'] as const].map(
  ([id, hasRedis, moment]): Row => ({
    id,
    ...(hasRedis ? {} : { aboutRedis: true }),
    fault: `a task has no job; ${workspaces.toLocaleString('en')} workspaces have a task for next year`,
    moment,
    expected: 'delivered within 60 s in the oldest and in the newest workspace, again and again',
    async run(fixture) {
      await fixture.startAll()
      const { oldest, newest } = await addWorkspaces(fixture)
      if (!hasRedis) await fixture.redis.kill()
      for (let round = 0; round < 3; round++) {
        await addWithoutJob(fixture, oldest, `/oldest-${round}`)
        await addWithoutJob(fixture, newest, `/newest-${round}`)
        const began = performance.now()
        await untilInState(fixture, ['success'], 2 * (round + 1), latenessMs + 10_000)
        fixture.notes.push(`round ${round + 1}: delivered within ${((performance.now() - began) / 1000).toFixed(1)} s`)
      }
      if (!hasRedis) await fixture.redis.start()
      return { latenessMs }
    },
  }),
)

// As if they were created over 70 days, so their ids lie far apart.
async function addWorkspaces(fixture: Fixture): Promise<{ oldest: string; newest: string }> {
  const organizationId = uuidOf(fixture.callers[0]?.organizationId ?? '')
  await fixture.sql(
    `INSERT INTO workspaces (id, organization_id, name, created_at, updated_at)
     SELECT uuid_v7(now() - i * interval '70 days' / $2::int), $1, 'Workspace ' || i, now(), now()
     FROM generate_series(1, $2::int) i`,
    [organizationId, workspaces],
  )
  await fixture.sql(
    `WITH task AS (
       INSERT INTO tasks (id, workspace_id, source, execute_at, due_at)
       SELECT uuid_v7(now()), id, 'task', now() + interval '1 year', now() + interval '1 year' FROM workspaces
       RETURNING id
     )
     INSERT INTO task_requests (task_id, name, url, method, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
     SELECT id, '/next-year', 'http://127.0.0.1:9/', 'POST', 0, 'fixed', 1000, 1000, 1000 FROM task`,
  )
  const ids = await fixture.sql<{ id: string }>('SELECT id FROM workspaces ORDER BY id')
  return { oldest: ids[0]?.id ?? '', newest: ids.at(-1)?.id ?? '' }
}

async function addWithoutJob(fixture: Fixture, workspaceId: string, path: string): Promise<void> {
  await fixture.sql(
    `WITH task AS (
       INSERT INTO tasks (id, workspace_id, source, execute_at, due_at)
       SELECT $1::uuid, $2::uuid, 'task', at, at FROM (SELECT clock_timestamp() + interval '1 second' AS at) one RETURNING id
     )
     INSERT INTO task_requests (task_id, name, url, method, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
     SELECT id, $3, $4, 'POST', 5, 'fixed', 1000, 1000, 1000 FROM task`,
    [randomUUID().replace(/^(.{14})./, '$17'), workspaceId, path, fixture.target.url(path)],
  )
}
