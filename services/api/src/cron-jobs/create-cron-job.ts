import { type CreateCronJobBody, createCronJobBody, cronJob } from '@belfry/contract/cron-job'
import { type NewCronJob, createCronJob as storeCronJob } from '@belfry/db/cron-jobs/change-cron-job'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { newUuid, toId } from '@belfry/domain/id'
import { expansionLookAheadMs } from '@belfry/queue'
import { audit } from '../audit/audit.ts'
import { requireRight } from '../auth/authorize.ts'
import { creation, type Work } from '../endpoint.ts'
import { inspectTarget } from '../http/inspect-target.ts'
import { refuseUsedKey } from '../http/object-key.ts'
import { notFound } from '../http/refusals.ts'
import { created } from '../http/reply.ts'
import { toLabels } from '../tasks/new-task.ts'
import { type ScheduleRequest, schedule } from '../tasks/schedule.ts'
import { inspectCallbacks, toStoredRequest } from '../tasks/stored-request.ts'
import { findCronJob } from './cron-job-row.ts'
import { inspectSchedule } from './inspect-schedule.ts'
import { presentCronJob } from './present-cron-job.ts'

export const createCronJob = creation({
  right: 'cron_job.write',
  summary: 'Create a cron job',
  answer: { status: 201, body: cronJob },
  refusals: ['quota_exceeded', 'key_in_use', 'conflict'],
  body: createCronJobBody,
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
  return {
    id: newUuid(),
    workspaceId,
    key: body.key ?? null,
    name: body.name,
    cron: body.cron,
    timezone: body.timezone,
    startsAt: body.starts_at,
    endsAt: body.ends_at,
    overlap: body.overlap,
    catchUp: body.catch_up,
    maxAgeMs: body.max_age_ms,
    labels: toLabels(body.labels),
    ...toStoredRequest(body, bodyText),
  }
}

/** Stores a new cron job, with its first tasks. The right is asked here, because other endpoints create cron jobs, too. */
export async function addCronJob(
  work: Work,
  request: ScheduleRequest,
  job: NewCronJob,
  plan: Pick<Parameters<typeof schedule>[2], 'payload' | 'queues' | 'queueDefaults'>,
): Promise<void> {
  const { caller } = request
  requireRight(caller.actor, 'cron_job.write')
  await schedule(work, request, {
    ...plan,
    starts: 'later',
    objects: 'cronJobs',
    rows: [job],
    async store({ db }) {
      const { tasks, now } = await refuseUsedKey(job.key, () =>
        inTransaction(db, async tx => {
          const { name, cron, timezone } = job
          const objectId = toId('cron', job.id)
          await audit(tx, caller, { action: 'cron_job.created', objectId, details: { name, cron, timezone } })
          return storeCronJob(tx, job, expansionLookAheadMs)
        }),
      )
      return { due: tasks, now }
    },
  })
}
