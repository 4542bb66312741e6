import { randomUUID } from 'node:crypto'
import { resumeCronJob } from '@belfry/db/cron-jobs/change-cron-job'
import { newUuid, toId } from '@belfry/domain/id'
import type { Message } from '@belfry/messages'
import { expect, it, onTestFinished } from 'vitest'
import { announceQuotaCrossings } from '../src/announce-quota-crossings.ts'
import type { Context } from '../src/context.ts'
import { raiseAlerts } from '../src/raise-alerts.ts'
import { openTestContext } from './setup.ts'

type Alert = Extract<Message, { type: 'alert' }>['alert']

async function setup() {
  const ctx = await openTestContext()
  onTestFinished(() => ctx.close())
  const [organizationId, workspaceId] = [randomUUID(), randomUUID()]
  await ctx.pool.query(
    `INSERT INTO organizations (id, name, slug, tier) VALUES ($1, 'Acme', gen_random_uuid(), 'free')`,
    [organizationId],
  )
  await ctx.pool.query(`INSERT INTO workspaces (id, organization_id, name) VALUES ($1, $2, 'Main')`, [
    workspaceId,
    organizationId,
  ])
  await ctx.pool.query(
    `INSERT INTO data_keys (workspace_id, version, master_key_id, wrapped_key) VALUES ($1, 1, 'k1', '')`,
    [workspaceId],
  )
  return { ctx, organizationId, workspaceId, ...tools(ctx, workspaceId) }
}

function tools(ctx: Context, workspaceId: string) {
  const integrate = async (events: string[], channel = 'webhook') => {
    const id = newUuid()
    await ctx.pool.query(
      `INSERT INTO integrations (id, workspace_id, name, channel, events, sealed_target, key_version, shown_target, told_until)
       VALUES ($1, $2, 'On call', $3, $4, '', 1, 'example.com', now() - interval '1 minute')`,
      [id, workspaceId, channel, events],
    )
    return id
  }
  const task = async (
    state: string,
    more: { name?: string; cronJobId?: string; occurrence?: number; ago?: number; reason?: string } = {},
  ) => {
    const id = newUuid()
    const { name = 'A task', cronJobId = null, occurrence = null, ago = 0, reason = null } = more
    await ctx.pool.query(
      `INSERT INTO tasks (id, workspace_id, source, state, state_reason, execute_at, due_at, cron_job_id, occurrence_at, finished_at)
       VALUES ($1, $2, 'task', $3, $7, now(), now(), $4, to_timestamp($5), now() - $6 * interval '1 second')`,
      [id, workspaceId, state, cronJobId, occurrence, ago, reason],
    )
    await ctx.pool.query(
      `INSERT INTO task_requests (task_id, name, url, method, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
       VALUES ($1, $2, 'https://example.com/', 'POST', 0, 'fixed', 1, 1, 1)`,
      [id, name],
    )
    return toId('task', id)
  }
  const cronJob = async (name: string) => {
    const id = newUuid()
    await ctx.pool.query(
      `INSERT INTO cron_jobs (id, workspace_id, name, cron, timezone, overlap, catch_up, url, method, max_retries, backoff,
                              base_delay_ms, max_delay_ms, timeout_ms)
       VALUES ($1, $2, $3, '* * * * *', 'UTC', 'allow', 'latest', 'https://example.com/', 'POST', 0, 'fixed', 1, 1, 1)`,
      [id, workspaceId, name],
    )
    return id
  }
  /** Raises all alerts, and returns the new ones. */
  const alerts = async (): Promise<Alert[]> => {
    await raiseAlerts(ctx, 0)
    const { rows } = await ctx.pool.query(
      `DELETE FROM outbox RETURNING convert_from(content, 'UTF8')::json -> 'alert' AS alert, id`,
    )
    return rows.sort((a, b) => (a.id < b.id ? -1 : 1)).map(({ alert }) => alert)
  }
  const pauseIsOver = () =>
    ctx.pool.query(`UPDATE integrations SET quiet_until = quiet_until - pause_ms * interval '1 millisecond'`)
  return { integrate, task, cronJob, alerts, pauseIsOver }
}

it('sends no alert for the events that a switched-off subscription misses', async () => {
  const { integrate, task, alerts } = await setup()
  await integrate(['task.dead'])
  const died = await task('dead')
  await task('dead', { reason: 'subscription_off' })
  expect(await alerts()).toMatchObject([{ event: 'task.dead', count: 1, items: [{ id: died }] }])
})

it('sends one alert for all dead tasks, and names the first few', async () => {
  const { integrate, task, alerts } = await setup()
  await integrate(['task.dead'])
  const ids: string[] = []
  for (let i = 0; i < 37; i++) ids.push(await task('dead', { name: `Task ${i}`, ago: 40 - i }))
  await task('success')
  const [alert, ...others] = await alerts()
  expect(others).toEqual([])
  expect(alert).toMatchObject({ event: 'task.dead', count: 37, workspace: { name: 'Main' } })
  expect(alert?.items).toEqual(ids.slice(0, 5).map((id, i) => ({ id, name: `Task ${i}` })))
  expect(await alerts()).toEqual([])
})

it('pauses after an alert, groups the events of the pause, and then pauses for longer', async () => {
  const { ctx, integrate, task, alerts, pauseIsOver } = await setup()
  await integrate(['task.dead'])
  const pauses: number[] = []
  for (let i = 0; i < 4; i++) {
    await task('dead')
    expect((await alerts()).map(({ count }) => count)).toEqual([i === 0 ? 1 : 2])
    await task('dead')
    expect(await alerts()).toEqual([])
    pauses.push((await ctx.pool.query('SELECT pause_ms FROM integrations')).rows[0].pause_ms / 60_000)
    await pauseIsOver()
  }
  expect(pauses).toEqual([1, 2, 4, 8])
})

it('sends every integration the events it subscribed to, of its own workspace only', async () => {
  const { ctx, integrate, task, alerts } = await setup()
  await integrate(['task.dead'])
  await integrate(['task.dead', 'cronjob.failing'], 'email')
  await integrate(['cronjob.failing'])
  await ctx.pool.query(`INSERT INTO workspaces (id, organization_id, name)
    SELECT gen_random_uuid(), organization_id, 'Other' FROM workspaces`)
  await task('dead')
  await raiseAlerts(ctx, 0)
  const { rows } = await ctx.pool.query(
    `SELECT kind, organization_id = (SELECT id FROM organizations) AS "isOfTenant" FROM outbox ORDER BY kind`,
  )
  expect(rows).toEqual([
    { kind: 'mail', isOfTenant: true },
    { kind: 'webhook', isOfTenant: true },
  ])
  await ctx.pool.query('UPDATE workspaces SET deleted_at = now()')
  await task('dead')
  await ctx.pool.query(`UPDATE integrations SET quiet_until = now() - interval '1 ms'`)
  await ctx.pool.query('DELETE FROM outbox')
  expect(await alerts()).toEqual([])
})

it('reports once that a cron job fails, and that it has recovered', async () => {
  const { integrate, task, cronJob, alerts, pauseIsOver } = await setup()
  await integrate(['cronjob.failing', 'cronjob.recovered'])
  const cronJobId = await cronJob('Report')
  const next = async (state: string, occurrence: number) => {
    await task(state, { cronJobId, occurrence })
    const raised = await alerts()
    await pauseIsOver()
    return raised.map(({ event, items }) => [event, items[0]?.name])
  }
  expect(await next('success', 1)).toEqual([])
  expect(await next('dead', 2)).toEqual([['cronjob.failing', 'Report']])
  expect(await next('dead', 3)).toEqual([])
  expect(await next('cancelled', 4)).toEqual([])
  expect(await next('retrying', 5)).toEqual([])
  expect(await next('success', 6)).toEqual([['cronjob.recovered', 'Report']])
  expect(await next('success', 7)).toEqual([])
  expect(await next('dead', 8)).toEqual([['cronjob.failing', 'Report']])
})

it('reports no recovery of a cron job that was resumed', async () => {
  const { ctx, workspaceId, integrate, task, cronJob, alerts } = await setup()
  await integrate(['cronjob.recovered'])
  const [resumed, other] = [await cronJob('Report'), await cronJob('Other')]
  await task('dead', { cronJobId: resumed, occurrence: 1 })
  expect(await alerts()).toEqual([])
  await ctx.pool.query('UPDATE cron_jobs SET paused_at = now() WHERE id = $1', [resumed])
  await resumeCronJob(ctx.pool, workspaceId, resumed, 0)
  await task('dead', { cronJobId: other, occurrence: 1 })
  expect(await alerts()).toEqual([])
})

it('ignores an occurrence that dies after a later one has succeeded', async () => {
  const { integrate, task, cronJob, alerts } = await setup()
  await integrate(['cronjob.failing'])
  const cronJobId = await cronJob('Report')
  await task('success', { cronJobId, occurrence: 2 })
  await task('dead', { cronJobId, occurrence: 1 })
  expect(await alerts()).toEqual([])
})

it('ignores occurrences that expired or were stopped', async () => {
  const { integrate, task, cronJob, alerts } = await setup()
  await integrate(['cronjob.failing'])
  const cronJobId = await cronJob('Report')
  await task('dead', { cronJobId, occurrence: 1, reason: 'expired' })
  expect(await alerts()).toEqual([])
  await task('dead', { cronJobId, occurrence: 2 })
  await task('success', { cronJobId, occurrence: 3 })
  await task('dead', { cronJobId, occurrence: 4, reason: 'stopped' })
  expect(await alerts()).toEqual([])
})

it('reports once that a host fails, and that it has recovered', async () => {
  const { ctx, workspaceId, integrate, alerts, pauseIsOver } = await setup()
  await integrate(['host.failing', 'host.recovered'])
  const next = async (host: string, total: number, failed: number) => {
    await ctx.pool.query(
      `INSERT INTO host_statistics (workspace_id, period, starts_at, host, total, failed, duration_ms)
       VALUES ($1, 1, date_trunc('minute', now()), $2, $3, $4, 0)
       ON CONFLICT (workspace_id, period, starts_at, host) DO UPDATE SET total = excluded.total, failed = excluded.failed`,
      [workspaceId, host, total, failed],
    )
    const raised = await alerts()
    await pauseIsOver()
    return raised.map(({ event, items }) => [event, items])
  }
  const items = [{ id: 'a.example', name: 'a.example' }]
  expect(await next('b.example', 20, 9)).toEqual([])
  expect(await next('a.example', 4, 4)).toEqual([])
  expect(await next('a.example', 5, 3)).toEqual([['host.failing', items]])
  expect(await next('a.example', 6, 4)).toEqual([])
  expect(await next('a.example', 10, 4)).toEqual([['host.recovered', items]])
  expect(await next('a.example', 12, 4)).toEqual([])
  expect(await next('a.example', 20, 12)).toEqual([['host.failing', items]])
  await ctx.pool.query('DELETE FROM integrations')
  await alerts()
  await integrate(['host.failing', 'host.recovered'])
  expect(await next('a.example', 40, 12)).toEqual([])
})

it('loses and repeats nothing when several schedulers run at once, or one stops with an error', async () => {
  const { ctx, integrate, task, pauseIsOver } = await setup()
  await integrate(['task.dead'])
  for (let i = 0; i < 5; i++) await task('dead')
  await ctx.pool.query('ALTER TABLE outbox RENAME TO gone')
  await expect(raiseAlerts(ctx, 0)).rejects.toThrow(/outbox/)
  await ctx.pool.query('ALTER TABLE gone RENAME TO outbox')
  await Promise.all(Array.from({ length: 6 }, () => raiseAlerts(ctx, 0)))
  await pauseIsOver()
  await raiseAlerts(ctx, 0)
  const { rows } = await ctx.pool.query(
    `SELECT convert_from(content, 'UTF8')::json -> 'alert' ->> 'count' AS n FROM outbox`,
  )
  expect(rows).toEqual([{ n: '5' }])
})

it('reports a cron job whose rule no process can read, once, and that it has recovered after its next success', async () => {
  const { ctx, integrate, task, cronJob, alerts, pauseIsOver } = await setup()
  await integrate(['cronjob.failing', 'cronjob.recovered'])
  const cronJobId = await cronJob('Report')
  await task('success', { cronJobId, occurrence: 1 })
  const unreadable = (since: string) =>
    ctx.pool.query(`UPDATE cron_jobs SET next_run_at = to_timestamp(2), unreadable_since = ${since}`)
  const events = async () => {
    const raised = await alerts()
    await pauseIsOver()
    return raised.map(({ event, items }) => [event, items[0]?.name])
  }
  await unreadable('now()') // another process may be able to read it
  expect(await events()).toEqual([])
  await unreadable(`now() - interval '61 seconds'`)
  expect(await events()).toEqual([['cronjob.failing', 'Report']])
  expect(await events()).toEqual([])
  await ctx.pool.query('UPDATE cron_jobs SET unreadable_since = NULL')
  expect(await events()).toEqual([])
  await task('success', { cronJobId, occurrence: 2 })
  expect(await events()).toEqual([['cronjob.recovered', 'Report']])
})

it('serves more than 50 integrations in one round, including those after some with nothing to report', async () => {
  const { ctx, integrate, task, alerts } = await setup()
  for (let i = 0; i < 60; i++) await integrate(['cronjob.failing'])
  for (let i = 0; i < 101; i++) await integrate(['task.dead'])
  await task('dead')
  expect(await alerts()).toHaveLength(101)
  expect(await alerts()).toEqual([])
  const { rows } = await ctx.pool.query('SELECT count(*)::int AS n FROM integrations WHERE has_news')
  expect(rows).toEqual([{ n: 0 }])
})

it('counts up to 10,001 dead tasks', async () => {
  const { ctx, workspaceId, integrate, alerts } = await setup()
  await integrate(['task.dead'])
  await ctx.pool.query(
    `INSERT INTO tasks (id, workspace_id, source, state, execute_at, due_at, finished_at)
     SELECT gen_random_uuid(), $1, 'task', 'dead', now(), now(), now() FROM generate_series(1, 10002)`,
    [workspaceId],
  )
  expect((await alerts()).map(({ count }) => count)).toEqual([10_001])
})

it('waits for a commit that stalls, and loses nothing of it', async () => {
  const { ctx, integrate, task, alerts, pauseIsOver } = await setup()
  await integrate(['task.dead'])
  for (const _which of ['stalled', 'other']) await task('retrying')
  const other = await ctx.pool.connect()
  try {
    await other.query('BEGIN')
    await other.query(
      `UPDATE tasks SET state = 'dead', finished_at = clock_timestamp() WHERE id = (SELECT min(id::text)::uuid FROM tasks)`,
    )
    await ctx.pool.query(
      `UPDATE tasks SET state = 'dead', finished_at = clock_timestamp() WHERE id = (SELECT max(id::text)::uuid FROM tasks)`,
    )
    expect(await alerts()).toEqual([]) // the later one waits for the earlier one
    await other.query('COMMIT')
  } finally {
    other.release()
  }
  await pauseIsOver()
  expect((await alerts()).map(({ count }) => count)).toEqual([2])
})

it('keeps a change of health for later while an old transaction holds up the alerts', async () => {
  const { ctx, integrate, task, cronJob, alerts, pauseIsOver } = await setup()
  await integrate(['task.dead', 'cronjob.failing'])
  await task('dead')
  await cronJob('Report')
  const other = await ctx.pool.connect()
  try {
    await other.query('SELECT pg_sleep(0.01)')
    await other.query('BEGIN; SELECT pg_current_xact_id()')
    expect(await alerts()).toMatchObject([{ event: 'task.dead' }])
    await pauseIsOver()
    await ctx.pool.query(`UPDATE cron_jobs SET next_run_at = now(), unreadable_since = now() - interval '2 minutes'`)
    expect(await alerts()).toEqual([])
  } finally {
    await other.query('COMMIT')
    other.release()
  }
  expect(await alerts()).toMatchObject([{ event: 'cronjob.failing' }])
})

it('reports what happens after the clock was set back by an hour', async () => {
  const { ctx, integrate, task, alerts } = await setup()
  await integrate(['task.dead'])
  await ctx.pool.query(
    `UPDATE alert_rounds SET noticed_until = now() + interval '1 h', marked_until = now() + interval '1 h'`,
  )
  await ctx.pool.query(
    `UPDATE integrations SET told_until = now() + interval '1 h', quiet_until = now() + interval '1 h'`,
  )
  expect(await alerts()).toEqual([])
  await task('dead')
  expect((await alerts()).map(({ count }) => count)).toEqual([1])
})

it('waits for rows that others have stamped but may not have committed yet', async () => {
  const { ctx, integrate, task } = await setup()
  await integrate(['task.dead'])
  await task('dead', { ago: 10 })
  expect(await raiseAlerts(ctx)).toBe(0)
  // As if 15 seconds had passed.
  await ctx.pool.query(`UPDATE tasks SET finished_at = finished_at - interval '15 seconds'`)
  await ctx.pool.query(`UPDATE alert_rounds SET marked_until = marked_until - interval '15 seconds',
                                                noticed_until = noticed_until - interval '15 seconds'`)
  await task('dead', { ago: 10 })
  expect(await raiseAlerts(ctx)).toBe(1)
  const { rows } = await ctx.pool.query(
    `SELECT convert_from(content, 'UTF8')::json -> 'alert' ->> 'count' AS n FROM outbox`,
  )
  expect(rows).toEqual([{ n: '1' }])
})

it('notifies owners by mail, and subscribed integrations, of a used-up quota: once, and not of its 80 %', async () => {
  const { ctx, organizationId, integrate } = await setup()
  await integrate(['quota.reached'])
  await integrate(['quota.warning'])
  for (const [email, role] of [
    ['owner@example.com', 'owner'],
    ['admin@example.com', 'admin'],
  ]) {
    const userId = randomUUID()
    await ctx.pool.query(`INSERT INTO users (id, email, name, password_hash) VALUES ($1, $2, 'A user', 'none')`, [
      userId,
      email,
    ])
    await ctx.pool.query('INSERT INTO memberships (organization_id, user_id, role) VALUES ($1, $2, $3)', [
      ...[organizationId, userId, role],
    ])
  }
  await ctx.pool.query(
    `INSERT INTO quota_crossings (organization_id, month, resource, percent)
     SELECT $1, utc_month(now()), 'executions', percent FROM unnest(ARRAY[80, 100]) AS percent`,
    [organizationId],
  )
  const never = new AbortController().signal
  const taken = await Promise.all([1, 2, 3].map(() => announceQuotaCrossings(ctx, never)))
  expect(taken.reduce((sum, one) => sum + one)).toBe(2)
  const { rows } = await ctx.pool.query(
    `SELECT kind, organization_id, convert_from(content, 'UTF8')::json AS message FROM outbox ORDER BY kind`,
  )
  expect(rows).toMatchObject([
    {
      kind: 'mail',
      organization_id: organizationId,
      message: { mail: { to: 'owner@example.com', subject: 'Acme: 100 % of the monthly executions used' } },
    },
    {
      kind: 'webhook',
      message: { alert: { event: 'quota.reached', quota: { resource: 'executions', percent: 100 } } },
    },
  ])
})
