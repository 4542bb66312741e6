import { changeCronJob } from '@belfry/db/cron-jobs/change-cron-job'
import type { Subscription as SubscriptionRow } from '@belfry/db/generated/client'
import { expansionLookAheadMs } from '@belfry/queue'
import type { Context } from '../context.ts'
import { addCronJob } from '../cron-jobs/write-cron-jobs.ts'
import { workOf } from '../endpoint.ts'
import type { StoredMcp } from '../subscriptions/subscriptions.ts'
import { enqueue, schedule as scheduleRows } from '../tasks/schedule.ts'
import { storeTasks } from '../tasks/store-tasks.ts'
import type { Schedule } from './chosen-events.ts'
import { type Caller, deliveryTask } from './delivery-task.ts'

export type Reminder = { schedule: Schedule; key: string; note: unknown; endsAt: Date | null }

/**
 * Makes the task or the cron job of a reminder, or lets the cron job end with its subscription. A task exists only when
 * its time is before the end: a renewal that extends the subscription beyond makes it. A task that a user cancels stays
 * cancelled. A cron job that a user deletes comes back with the next renewal; a paused one stays paused.
 */
export async function setReminder(
  ctx: Context,
  by: Caller,
  delivery: SubscriptionRow,
  reminder: Reminder,
): Promise<void> {
  const { schedule, endsAt } = reminder
  if (schedule.cron !== null) await setCronJob(ctx, by, delivery, { ...reminder, schedule })
  else if (endsAt === null || schedule.at < endsAt) await setTask(ctx, by, delivery, { ...reminder, schedule })
}

type Of<Kind extends Schedule> = Omit<Reminder, 'schedule'> & { schedule: Kind }

async function setTask(
  ctx: Context,
  by: Caller,
  delivery: SubscriptionRow,
  { schedule: { at }, key, note }: Of<Extract<Schedule, { cron: null }>>,
): Promise<void> {
  if (at.getTime() <= ctx.clock.now() || (delivery.mcp as StoredMcp).isSet) return
  const data = { note: note ?? null, at: at.toISOString(), cron: null, timezone: null }
  const task = deliveryTask(by.caller, delivery, { name: nameOf(note), payload: payloadOf(data), executeAt: at })
  const keyed = { ...task, key, onConflict: 'keep' as const }
  await scheduleRows(workOf(ctx), by, {
    starts: 'later',
    rows: [keyed],
    repeats: 1,
    payload: keyed.payload,
    store: work => storeTasks(work, [keyed]),
  })
  // A renewal does not look for the task: retention deletes it.
  await ctx.pool.query(`UPDATE subscriptions SET mcp = mcp || '{"isSet": true}' WHERE id = $1`, [delivery.id])
}

async function setCronJob(
  ctx: Context,
  by: Caller,
  delivery: SubscriptionRow,
  { schedule: { cron, timezone }, key, note, endsAt }: Of<Extract<Schedule, { at: null }>>,
): Promise<void> {
  const { workspaceId } = by.caller
  const { rows } = await ctx.pool.query<{ id: string }>('SELECT id FROM cron_jobs WHERE subscription_id = $1', [
    delivery.id,
  ])
  if (rows[0]) {
    const moved = await changeCronJob(ctx.pool, workspaceId, rows[0].id, { endsAt }, expansionLookAheadMs)
    if (moved.kind === 'moved') enqueue(ctx, moved.expansion.tasks, moved.expansion.now)
    return
  }
  const payload = payloadOf({ note: note ?? null, at: null, cron, timezone })
  const {
    source: _,
    topic: _topic,
    isReport: _isReport,
    ...request
  } = deliveryTask(by.caller, delivery, {
    ...{ name: nameOf(note), payload, executeAt: null },
  })
  const job = { ...request, cron, timezone, startsAt: null, endsAt, overlap: 'allow', catchUp: 'latest', key } as const
  await addCronJob(workOf(ctx), by, { ...job, subscriptionId: delivery.id }, { payload, queues: [] })
}

function payloadOf(data: object): string {
  return JSON.stringify({ name: 'reminder.due', data })
}

function nameOf(note: unknown): string {
  return typeof note === 'string' ? `Reminder: ${note}`.slice(0, 200) : 'Reminder'
}
