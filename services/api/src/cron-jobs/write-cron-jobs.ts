import type { CreateCronJobBody, UpdateCronJobBody } from '@belfry/contract/cron-job'
import { operations } from '@belfry/contract/operations'
import {
  type CronJobChange,
  changeCronJob,
  type NewCronJob,
  createCronJob as storeCronJob,
} from '@belfry/db/cron-jobs/change-cron-job'
import { filledLabels } from '@belfry/db/cron-jobs/cron-job'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { newUuid, toId } from '@belfry/domain/id'
import { expansionLookAheadMs } from '@belfry/queue'
import { audit } from '../audit/audit.ts'
import { type Allowed, authorOf } from '../auth/authorize.ts'
import type { Context } from '../context.ts'
import { creation, endpoint, type Work } from '../endpoint.ts'
import { given, isEmpty } from '../http/given.ts'
import { inspectTarget } from '../http/inspect-target.ts'
import { notFound, refuseUsedKey } from '../http/refusals.ts'
import { created } from '../http/reply.ts'
import { nameQueues, planQueues, type QueueDefaults } from '../queues/queues.ts'
import { readQuota, refuseLargePayload } from '../quotas/quotas.ts'
import { requireSecretUse } from '../secrets/require-secret-use.ts'
import { inspectCallbacks, toLabels, toRequestChange, toStoredRequest } from '../tasks/new-task.ts'
import { type ScheduleRequest, schedule } from '../tasks/schedule.ts'
import { inspectSchedule } from './inspect-schedule.ts'
import { moveCronJob } from './move-cron-job.ts'
import { findCronJob, presentCronJob, readCronJob } from './read-cron-jobs.ts'

export const createCronJob = creation(operations.createCronJob, {
  inspect: (ctx, body) => [...inspectTarget(ctx, body), ...inspectCallbacks(ctx, body), ...inspectSchedule(ctx, body)],
  async handle(work, input) {
    const { body, bodyText, caller } = input
    const job = toNewCronJob(caller.workspaceId, body, bodyText)
    await addCronJob(work, input, job, { payload: job.payload, queues: [body.queue] })
    const row = await findCronJob(work.db, caller.workspaceId, job.id)
    if (!row) throw notFound() // deleted meanwhile
    const presented = presentCronJob(row, work.clock.now())
    return created(`/api/v1/scheduler/cronjobs/${presented.id}`, presented)
  },
})

/** Returns the cron job that a body asks for. `bodyText` is the text that the body was parsed from. */
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

/** Stores a new cron job, with its first tasks. */
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
  inspect: (ctx, body) => [...inspectTarget(ctx, body), ...inspectCallbacks(ctx, body)],
  async handle(ctx, { caller, params: { cronjob: id }, body, bodyText }) {
    const change = toChange(body, bodyText)
    if (!isEmpty(change)) {
      refuseLargePayload(await readQuota(ctx, caller.organizationId), change.payload)
      await refuseUsedKey(body.key, () => rewriteCronJob(ctx, caller, id, change, body))
    }
    return readCronJob(ctx, caller, id)
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
  const changed = { ...change, updatedBy: authorOf(caller) }
  await moveCronJob(ctx, caller, { id, action: 'cron_job.changed', body }, async tx => {
    await nameQueues(tx, caller, await planQueues(tx, caller, [body.queue], queueDefaults))
    return changeCronJob(tx, caller.workspaceId, id, changed, expansionLookAheadMs)
  })
}

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
