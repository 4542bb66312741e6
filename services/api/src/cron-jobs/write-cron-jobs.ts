import type { CreateCronJobBody, UpdateCronJobBody } from '@belfry/contract/cron-job'
import { operations } from '@belfry/contract/operations'
import { backfillCronJob as fillBack } from '@belfry/db/cron-jobs/backfill-cron-job'
import {
  type CronJobChange,
  type CronJobMove,
  changeCronJob,
  type NewCronJob,
  pauseCronJob as pause,
  deleteCronJob as remove,
  resumeCronJob as resume,
  createCronJob as storeCronJob,
  triggerCronJob as trigger,
} from '@belfry/db/cron-jobs/change-cron-job'
import { filledLabels, scheduleOf as storedScheduleOf } from '@belfry/db/cron-jobs/cron-job'
import { inTransaction, type Transaction } from '@belfry/db/postgres/in-transaction'
import { advanceQueues } from '@belfry/db/queues/advance-queues'
import { AppError, invalidField, notFound } from '@belfry/domain/app-error'
import { nextRuns } from '@belfry/domain/cron/cron-schedule'
import { newUuid, toId } from '@belfry/domain/id'
import { presentTask } from '@belfry/present/present-task'
import { expansionLookAheadMs } from '@belfry/queue'
import { type Auditor, audit } from '../audit/audit.ts'
import { type Allowed, authorOf, requireReader } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { creation, endpoint, type Work, workOf } from '../endpoint.ts'
import { refuseUsedKey } from '../http/errors.ts'
import { given, isEmpty } from '../http/given.ts'
import { created } from '../http/response.ts'
import { nameQueues, planQueues, type QueueDefaults } from '../queues/queues.ts'
import { readQuota, refuseLargePayload } from '../quotas/quotas.ts'
import { requireSecretUse } from '../secrets/require-secret-use.ts'
import { inspectRequest, toLabels, toRequestChange, toStoredRequest } from '../tasks/new-task.ts'
import { findTask } from '../tasks/read-tasks.ts'
import { enqueue, type Origin, type ScheduleRequest, schedule } from '../tasks/schedule.ts'
import { inspectSchedule, neverRuns } from './inspect-schedule.ts'
import { findCronJob, presentCronJob, readCronJob } from './read-cron-jobs.ts'

export const createCronJob = creation(operations.createCronJob, {
  inspect: (ctx, body) => [...inspectRequest(ctx, body), ...inspectSchedule(ctx, body)],
  async handle(work, input) {
    const { body, bodyText, caller } = input
    const job = toNewCronJob(caller.workspaceId, body, bodyText)
    await addCronJob(work, input, job, { payload: job.payload, queues: [body.queue] })
    const row = await findCronJob(work.db, caller.workspaceId, job.id)
    if (!row) throw notFound() // deleted meanwhile
    return created('/api/v1/scheduler/cronjobs', presentCronJob(row, work.clock.now()))
  },
})

export function toNewCronJob(workspaceId: string, body: CreateCronJobBody, bodyText: string): NewCronJob {
  const request = toStoredRequest(body, bodyText)
  return {
    id: newUuid(),
    workspaceId,
    key: body.key ?? null,
    ...scheduleOf(body),
    ...filledLabels(toLabels(body.labels), request),
    ...request,
  }
}

export async function addCronJob(
  work: Work,
  request: ScheduleRequest & { caller: Allowed<'cron_job.write'> },
  job: NewCronJob,
  plan: Pick<Parameters<typeof schedule>[2], 'payload' | 'queues' | 'queueDefaults'>,
): Promise<void> {
  const { caller } = request
  await schedule(work, request, {
    ...plan,
    starts: 'later',
    objects: 'cronJobs',
    rows: [job],
    async store({ db }) {
      const { tasks, now } = await refuseUsedKey(job.key, () =>
        inTransaction(db, async tx => {
          const { name, cron, timezone } = job
          await audit(tx, caller, 'cron_job.created', toId('cron', job.id), { name, cron, timezone })
          return storeCronJob(tx, job, expansionLookAheadMs)
        }),
      )
      return { due: tasks, now }
    },
  })
}

export const updateCronJob = endpoint(operations.updateCronJob, {
  inspect: (ctx, body) => inspectRequest(ctx, body),
  async handle(ctx, input) {
    const { caller, body, bodyText } = input
    const id = input.params.cronjob
    const change = toChange(body, bodyText)
    if (!isEmpty(change)) {
      requireReader(caller, 'cron_job.read', change)
      refuseLargePayload(await readQuota(ctx, caller.organizationId), change.payload)
      await refuseUsedKey(body.key, () => rewriteCronJob(ctx, caller, id, change, body))
    }
    return readCronJob(ctx, input)
  },
})

/** Changes what a cron job calls, or when. `body` is the request, whose fields are recorded. */
export async function rewriteCronJob(
  ctx: Context,
  caller: Allowed<'cron_job.write'>,
  id: string,
  change: CronJobChange,
  body: Pick<UpdateCronJobBody, 'queue'>,
  queueDefaults?: QueueDefaults,
): Promise<void> {
  await requireSecretUse(ctx.pool, caller, [change], () => findCronJob(ctx.pool, caller.workspaceId, id))
  // What a reminder sends is an event, signed for that client.
  const reminder = 'SELECT FROM cron_jobs WHERE id = $1 AND workspace_id = $2 AND subscription_id IS NOT NULL'
  if ((await ctx.pool.query(reminder, [id, caller.workspaceId])).rowCount === 1)
    throw new AppError('conflict', ofMcpClient)
  const changed = { ...change, updatedBy: authorOf(caller) }
  await moveCronJob(ctx, caller, { id, action: 'cron_job.changed', body }, async (tx, workspaceId, id, lookAheadMs) => {
    await nameQueues(tx, caller, await planQueues(tx, caller, [body.queue], queueDefaults))
    return changeCronJob(tx, workspaceId, id, changed, lookAheadMs)
  })
}

const ofMcpClient =
  'This cron job is a reminder that an MCP client has asked for. Pause it, or delete its subscription.'

function toChange(body: UpdateCronJobBody, bodyText: string): CronJobChange {
  return given({
    key: body.key,
    ...scheduleOf(body),
    labels: body.labels && toLabels(body.labels),
    ...toRequestChange(body, bodyText),
  })
}

// When a cron job runs. Fields that a change omits are undefined.
function scheduleOf<Body extends CreateCronJobBody | UpdateCronJobBody>(body: Body) {
  return {
    name: body.name as Body['name'],
    cron: body.cron as Body['cron'],
    timezone: body.timezone as Body['timezone'],
    startsAt: body.starts_at as Body['starts_at'],
    endsAt: body.ends_at as Body['ends_at'],
    overlap: body.overlap as Body['overlap'],
    catchUp: body.catch_up as Body['catch_up'],
    maxAgeMs: body.max_age_ms as Body['max_age_ms'],
  }
}

export const pauseCronJob = moving(operations.pauseCronJob, 'cron_job.paused', pause)

export const resumeCronJob = moving(operations.resumeCronJob, 'cron_job.resumed', resume)

function moving(
  operation: typeof operations.pauseCronJob | typeof operations.resumeCronJob,
  action: 'cron_job.paused' | 'cron_job.resumed',
  move: typeof resume,
) {
  return endpoint(operation, async (ctx, input) => {
    await moveCronJob(ctx, input.caller, { id: input.params.cronjob, action }, move)
    return readCronJob(ctx, input)
  })
}

export const deleteCronJob = endpoint(operations.deleteCronJob, async (ctx, { caller, params: { cronjob: id } }) => {
  await moveCronJob(ctx, caller, { id, action: 'cron_job.deleted' }, remove)
})

export type CronJobAction = `cron_job.${'changed' | 'paused' | 'resumed' | 'deleted'}`

/**
 * Changes a cron job and records that in the audit log, in one transaction. A change without an effect is not recorded.
 * @throws AppError `not_found`, or `validation_failed` when the cron job would never run again.
 */
export async function moveCronJob<A extends CronJobAction>(
  ctx: Context,
  caller: Auditor<A> & { workspaceId: string },
  { id, action, body }: { id: string; action: A; body?: Readonly<Record<string, unknown>> },
  move: (tx: Transaction, workspaceId: string, id: string, lookAheadMs: number) => Promise<CronJobMove>,
): Promise<void> {
  // A URL or a header may hold a secret, so the record has the names of the changed fields and not their values.
  const fields = body && { fields: Object.keys(body).sort() }
  const moved = await inTransaction(ctx.pool, async tx => {
    const moved = await move(tx, caller.workspaceId, id, expansionLookAheadMs)
    if (moved.kind === 'unknown') throw notFound()
    if (moved.kind === 'never_runs') throw neverRuns(body ?? {})
    if (moved.isChanged) {
      await audit(tx, caller, action, toId('cron', id), { name: moved.name, ...fields })
    }
    return moved
  })
  await advanceQueues(ctx.pool, moved.queues)
  enqueue(ctx, moved.expansion.tasks, moved.expansion.now)
}

export const triggerCronJob = endpoint(operations.triggerCronJob, async (ctx, input) => {
  const { params, caller } = input
  const origin: Origin = {}
  const { row } = await schedule(workOf(ctx), input, {
    starts: 'later',
    rows: [origin],
    async store({ db }) {
      const due = await trigger(db, caller.workspaceId, params.cronjob, origin)
      const row = due && (await findTask(db, caller.workspaceId, due.id))
      if (!row) throw notFound()
      return { row, due: [row], now: new Date(ctx.clock.now()) }
    },
  })
  return created('/api/v1/scheduler/tasks', presentTask(row))
})

const maxBackfilled = 1_000
/** What the clock of a caller who sends the present time may be ahead. */
const maxAheadMs = 60_000

const inStorage =
  'Tasks of this time may be in object storage. Send a later from, or ask an operator to restore the days since then.'

export const backfillCronJob = endpoint(operations.backfillCronJob, async (ctx, input) => {
  const { params, caller, body } = input
  const { from, to, per_second: perSecond = null } = body
  const now = ctx.clock.now()
  if (to.getTime() > now + maxAheadMs) throw invalidField('to', 'out_of_range', 'to must not be in the future.')
  const job = await findCronJob(ctx.pool, caller.workspaceId, params.cronjob)
  if (!job) throw notFound()
  const endsAt = new Date(Math.min(to.getTime(), now, job.endsAt?.getTime() ?? now))
  const occurrences = nextRuns({ ...storedScheduleOf(job), endsAt }, from.getTime() - 1, maxBackfilled + 1)
  if (occurrences.length > maxBackfilled) {
    const message = `The time has more than ${maxBackfilled} occurrences. Send an earlier to, and continue from there.`
    throw invalidField('to', 'too_many', message)
  }
  const rows: Origin[] = occurrences.map(() => ({}))
  const { due } = await schedule(workOf(ctx), input, {
    starts: 'later',
    rows,
    async store({ db }) {
      const times = occurrences.map(({ atMs }) => new Date(atMs))
      const stored = await fillBack(db, caller.workspaceId, params.cronjob, { times, perSecond, ...rows[0] })
      if (!stored) throw notFound()
      if (stored.isStored) throw invalidField('from', 'out_of_range', inStorage)
      return stored
    },
  })
  return { created: due.length, skipped: occurrences.length - due.length }
})
