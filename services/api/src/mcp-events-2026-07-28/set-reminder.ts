import { changeCronJob } from '@belfry/db/cron-jobs/change-cron-job'
import type { Subscription as SubscriptionRow } from '@belfry/db/generated/client'
import { expansionLookAheadMs } from '@belfry/queue'
import type { Context } from '../context.ts'
import { addCronJob } from '../cron-jobs/write-cron-jobs.ts'
import { workOf } from '../endpoint.ts'
import type { StoredMcp } from '../subscriptions/subscriptions.ts'
import { enqueue, schedule as scheduleRows } from '../tasks/schedule.ts'
import { storeTasks } from '../tasks/store-tasks.ts'
import type { Once, Repeated, Schedule } from './chosen-events.ts'
import { type Caller, deliveryTask } from './delivery-task.ts'

/**
 * Makes the task or the cron job of a reminder, or lets the cron job end with its subscription. A task exists only when
 * its time is before the end: a renewal that extends the subscription beyond makes it. A task that a user cancels stays
 * cancelled. A cron job that a user deletes comes back with the next renewal; a paused one stays paused.
 */
export async function setReminder(ctx: Context, by: Caller, subscription: SubscriptionRow, schedule: Schedule) {
  const { expiresAt } = subscription
  if (schedule.cron !== null) await setCronJob(ctx, by, subscription, schedule)
  else if (expiresAt === null || schedule.at < expiresAt) await setTask(ctx, by, subscription, schedule)
}

async function setTask(ctx: Context, by: Caller, subscription: SubscriptionRow, { at, note }: Once) {
  const { id, key, mcp } = subscription
  if (at.getTime() <= ctx.clock.now() || (mcp as StoredMcp).isSet) return
  const payload = payloadOf({ note: note ?? null, at: at.toISOString(), cron: null, timezone: null })
  const task = deliveryTask(subscription, { name: nameOf(note), payload, executeAt: at })
  const keyed = { ...task, key, onConflict: 'keep' as const }
  await scheduleRows(workOf(ctx), by, {
    starts: 'later',
    rows: [keyed],
    repeats: 1,
    payload,
    store: work => storeTasks(work, [keyed]),
  })
  // A renewal does not look for the task: retention deletes it.
  await ctx.pool.query(`UPDATE subscriptions SET mcp = mcp || '{"isSet": true}' WHERE id = $1`, [id])
}

async function setCronJob(ctx: Context, by: Caller, subscription: SubscriptionRow, schedule: Repeated) {
  const { cron, timezone, note } = schedule
  const { id, key, workspaceId, expiresAt: endsAt } = subscription
  const { rows } = await ctx.pool.query<{ id: string }>('SELECT id FROM cron_jobs WHERE subscription_id = $1', [id])
  if (rows[0]) {
    const moved = await changeCronJob(ctx.pool, workspaceId, rows[0].id, { endsAt }, expansionLookAheadMs)
    if (moved.kind === 'moved') enqueue(ctx, moved.expansion.tasks, moved.expansion.now)
    return
  }
  const payload = payloadOf({ note: note ?? null, at: null, cron, timezone })
  const request = deliveryTask(subscription, { name: nameOf(note), payload, executeAt: null })
  const job = { ...request, cron, timezone, startsAt: null, endsAt, overlap: 'allow', catchUp: 'latest', key } as const
  await addCronJob(workOf(ctx), by, job, { payload, queues: [] })
}

function payloadOf(data: object): string {
  return JSON.stringify({ name: 'reminder.due', data })
}

function nameOf(note: string | undefined): string {
  return note === undefined ? 'Reminder' : `Reminder: ${note}`.slice(0, 200)
}
