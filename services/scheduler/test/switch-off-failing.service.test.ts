import { randomUUID } from 'node:crypto'
import { newUuid, toId } from '@belfry/domain/id'
import type { Message } from '@belfry/messages'
import { expect, it, onTestFinished } from 'vitest'
import { switchOffFailing } from '../src/switch-off-failing.ts'
import { openTestContext } from './setup.ts'

const url = 'https://example.com/hook'
const sending = `url, method, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms`
const sent = `'POST', 0, 'fixed', 1, 1, 1`

async function setup(days = 10) {
  const ctx = await openTestContext()
  onTestFinished(() => ctx.close())
  const { pool } = ctx
  const [organizationId, workspaceId, userId] = [randomUUID(), randomUUID(), randomUUID()]
  await pool.query(`INSERT INTO organizations (id, name, slug, tier) VALUES ($1, 'Acme', $2, 'free')`, [
    organizationId,
    randomUUID(),
  ])
  await pool.query(`INSERT INTO users (id, email, name, password_hash) VALUES ($1, $2, 'Owner', '')`, [
    userId,
    `${userId}@example.com`,
  ])
  await pool.query(`INSERT INTO memberships (organization_id, user_id, role) VALUES ($1, $2, 'owner')`, [
    organizationId,
    userId,
  ])
  await pool.query(`INSERT INTO workspaces (id, organization_id, name, switch_off_days) VALUES ($1, $2, 'Main', $3)`, [
    workspaceId,
    organizationId,
    days,
  ])
  await pool.query(
    `INSERT INTO data_keys (workspace_id, version, master_key_id, wrapped_key) VALUES ($1, 1, 'k1', '')`,
    [workspaceId],
  )
  await pool.query(
    `INSERT INTO integrations (id, workspace_id, name, channel, events, sealed_target, key_version, shown_target)
     VALUES ($1, $2, 'On call', 'webhook', '{endpoint.failing,endpoint.switched_off}', '', 1, 'example.com')`,
    [newUuid(), workspaceId],
  )
  const subscribe = async (topic = 'orders.*') => {
    const id = newUuid()
    await pool.query(
      `INSERT INTO subscriptions (id, workspace_id, topic, active, updated_at, ${sending.replace('method, ', '')})
       VALUES ($1, $2, $3, true, now(), $4, ${sent.replace("'POST', ", '')})`,
      [id, workspaceId, topic, url],
    )
    return id
  }
  const cronJob = async () => {
    const id = newUuid()
    await pool.query(
      `INSERT INTO cron_jobs (id, workspace_id, name, cron, timezone, overlap, catch_up, failing_since, next_run_at, ${sending})
       VALUES ($1, $2, 'Report', '0 0 * * *', 'UTC', 'allow', 'latest', now(), now() + interval '1 hour', $3, ${sent})`,
      [id, workspaceId, url],
    )
    return id
  }
  /** Stores a task that has ended so many seconds ago, and its run. */
  const end = async (
    state: 'success' | 'dead',
    of: {
      cronJobId?: string
      topic?: string
      to?: string
      subscriptionId?: string
      ago?: number
      reason?: string
    } = {},
  ) => {
    const id = newUuid()
    const { cronJobId = null, topic = cronJobId ? null : 'orders.paid', to = url, ago = 0 } = of
    const values = [id, workspaceId, state, cronJobId, topic && randomUUID(), ago, of.reason ?? null]
    await pool.query(
      `INSERT INTO tasks (id, workspace_id, source, state, state_reason, execute_at, due_at, cron_job_id, occurrence_at, event_id, finished_at)
       VALUES ($1, $2, 'event', $3, $7, now(), now(), $4, CASE WHEN $4::uuid IS NOT NULL THEN clock_timestamp() END, $5,
               now() - $6 * interval '1 second')`,
      values,
    )
    await pool.query(
      `INSERT INTO task_requests (task_id, name, topic, subscription_id, ${sending}) VALUES ($1, 'T', $2, $3, $4, ${sent})`,
      [id, topic, of.subscriptionId ?? null, to],
    )
    await pool.query(
      `INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at, topic)
       VALUES (uuid_v7(clock_timestamp()), $1, $2, 1, 'event', $3, now(), now(), now() - $4 * interval '1 second', $5)`,
      [workspaceId, id, state === 'dead' ? 'failed' : 'success', ago, topic],
    )
  }
  const age = (table: 'cron_jobs' | 'subscriptions', interval: string) =>
    pool.query(
      `UPDATE ${table} SET failing_since = now() - $2::interval, failing_warned_at = failing_warned_at - interval '5 days'
       WHERE workspace_id = $1`,
      [workspaceId, interval],
    )
  const health = async (table: 'cron_jobs' | 'subscriptions', id: string | null = null) => {
    const text = `SELECT failing_since IS NOT NULL AS failing, failing_warned_at IS NOT NULL AS warned, paused_reason AS reason
                  FROM ${table} WHERE workspace_id = $1 AND id = coalesce($2, id)`
    const [row] = (await pool.query(text, [workspaceId, id])).rows
    return [row.failing, row.warned, row.reason]
  }
  /** Runs the chore, and returns the new messages in short. */
  const round = async () => {
    await switchOffFailing(ctx)
    const { rows } = await pool.query<{ message: Message }>(
      `DELETE FROM outbox WHERE organization_id = $1 RETURNING convert_from(content, 'UTF8')::json AS message`,
      [organizationId],
    )
    return rows
      .map(({ message }) => {
        if (message.type === 'mail') return `mail ${message.mail.subject}`
        return message.type === 'alert' ? `alert ${message.alert.event} ${message.alert.items[0]?.id}` : message.type
      })
      .sort()
  }
  return { ctx, workspaceId, subscribe, cronJob, end, age, health, round }
}

it('marks a subscription that fails, by its topic and URL', async () => {
  const { subscribe, end, health, round } = await setup()
  await subscribe()
  await end('dead', { topic: 'orders' })
  await end('dead', { to: `${url}/other` })
  await end('dead', { reason: 'expired' })
  await end('dead', { subscriptionId: newUuid() })
  expect([await round(), await health('subscriptions')]).toEqual([[], [false, false, null]])
  await end('dead', { ago: 20 })
  await end('success', { ago: 10 })
  expect([await round(), await health('subscriptions')]).toEqual([[], [false, false, null]])
  await end('dead', { ago: 5, topic: 'orders.eu.paid' })
  await end('success', { ago: 3, to: `${url}/other` })
  await round()
  expect(await health('subscriptions')).toEqual([true, false, null])
})

it('warns after half of the days and switches off after all of them, each once, when it fails again', async () => {
  const { subscribe, end, age, health, round } = await setup()
  const id = await subscribe()
  await end('dead')
  expect([await round(), await health('subscriptions')]).toEqual([[], [true, false, null]])
  await end('dead', { subscriptionId: id })
  await age('subscriptions', '4 days 23 hours')
  expect(await round()).toEqual([])
  await age('subscriptions', '5 days 1 minute')
  const warning = ['alert endpoint.failing', 'mail Acme: a subscription to "orders.*" has been failing for days']
  expect(await round()).toEqual([`${warning[0]} ${toId('sub', id)}`, warning[1]])
  expect([await round(), await health('subscriptions')]).toEqual([[], [true, true, null]])
  await age('subscriptions', '10 days 1 minute')
  expect(await round()).toEqual([
    `alert endpoint.switched_off ${toId('sub', id)}`,
    'mail Acme: a subscription to "orders.*" was switched off',
  ])
  expect([await round(), await health('subscriptions')]).toEqual([[], [true, true, 'failing']])
})

it('forgets the failures of a subscription when a task of a later event succeeds', async () => {
  const { ctx, workspaceId, subscribe, end, age, health, round } = await setup()
  const id = await subscribe('orders.paid')
  await end('dead')
  await round()
  await age('subscriptions', '9 days')
  await ctx.pool.query(`UPDATE tasks SET finished_at = now() - interval '1 hour' WHERE workspace_id = $1`, [
    workspaceId,
  ])
  expect([await round(), await health('subscriptions')]).toEqual([[], [true, false, null]]) // it was not called
  await end('success', { subscriptionId: newUuid() })
  await round()
  expect(await health('subscriptions')).toEqual([true, false, null])
  await end('success', { subscriptionId: id })
  expect([await round(), await health('subscriptions')]).toEqual([[], [false, false, null]])
})

it('judges no subscription by the failures of another one with its URL', async () => {
  const { subscribe, end, age, health, round } = await setup()
  const [failing, broken, idle] = [await subscribe(), await subscribe(), await subscribe()]
  await end('dead') // of any of them
  await round()
  await age('subscriptions', '10 days 1 minute')
  for (const subscriptionId of [failing, broken]) await end('dead', { subscriptionId })
  const mail = 'mail Acme: a subscription to "orders.*" has been failing for days'
  const alerts = [failing, broken].map(id => `alert endpoint.failing ${toId('sub', id)}`)
  expect(await round()).toEqual([...alerts.sort(), mail, mail])
  await end('success', { subscriptionId: failing })
  await round()
  expect(await health('subscriptions', failing)).toEqual([false, false, null])
  expect(await health('subscriptions', broken)).toEqual([true, true, null])
  expect(await health('subscriptions', idle)).toEqual([false, false, null])
})

it('forgets no failures of a topic when another one succeeds at the same URL', async () => {
  const { subscribe, end, health, round } = await setup()
  const [paid, all] = [await subscribe('orders.paid'), await subscribe('*')]
  await end('dead') // of the topic orders.paid
  await round()
  await end('success', { subscriptionId: all, topic: 'orders.sent' })
  await round()
  expect(await health('subscriptions', all)).toEqual([false, false, null])
  expect(await health('subscriptions', paid)).toEqual([true, false, null])
})

it('pauses a cron job whose occurrences have only failed, and no other', async () => {
  const { ctx, cronJob, end, age, health, round } = await setup()
  const id = await cronJob()
  await end('dead', { cronJobId: id })
  await age('cron_jobs', '40 days') // since before an upgrade, for example
  expect(await round()).toEqual([
    `alert endpoint.failing ${toId('cron', id)}`,
    'mail Acme: a cron job "Report" has been failing for days',
  ])
  await age('cron_jobs', '11 days')
  expect(await round()).toEqual([
    `alert endpoint.switched_off ${toId('cron', id)}`,
    'mail Acme: a cron job "Report" was switched off',
  ])
  expect(await health('cron_jobs')).toEqual([true, true, 'failing'])
  const { rows } = await ctx.pool.query('SELECT paused_at, next_run_at FROM cron_jobs WHERE id = $1', [id])
  expect(rows).toEqual([{ paused_at: expect.any(Date), next_run_at: null }])
  expect(await round()).toEqual([])
})

it('does nothing in a workspace whose days are 0', async () => {
  const { subscribe, end, age, health, round } = await setup(0)
  const subscriptionId = await subscribe()
  await end('dead', { subscriptionId })
  await round()
  await age('subscriptions', '80 days')
  expect([await round(), await health('subscriptions')]).toEqual([[], [true, false, null]])
})
