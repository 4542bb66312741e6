import { type CreateCronJobBody, defaultRules } from '@belfry/contract/cron-job'
import { pauseCronJob, deleteCronJob as removeCronJob, resumeCronJob } from '@belfry/db/cron-jobs/change-cron-job'
import { readableScheduleOf } from '@belfry/db/cron-jobs/cron-job'
import type { TaskState } from '@belfry/db/generated/enums'
import { isUniqueViolation } from '@belfry/db/postgres/create-prisma'
import type { Db } from '@belfry/db/postgres/in-transaction'
import type { auditRights } from '@belfry/domain/audit-action'
import { nextScheduled } from '@belfry/domain/cron/cron-schedule'
import { cronNames, parseCron } from '@belfry/domain/cron/parse-cron'
import { isTimeZone } from '@belfry/domain/cron/zone-pieces'
import { fromId, NIL_UUID, toId } from '@belfry/domain/id'
import { toJsonText } from '@belfry/present/raw-json'
import { authorizeAgain } from '../auth/authorize.ts'
import { type CronJobRow, findCronJob, scanCronJobs } from '../cron-jobs/read-cron-jobs.ts'
import {
  addCronJob,
  type CronJobAction,
  moveCronJob,
  rewriteCronJob,
  toNewCronJob,
} from '../cron-jobs/write-cron-jobs.ts'
import { workOf } from '../endpoint.ts'
import { readBounded } from '../http/bounded-page.ts'
import { repeatCheck } from '../http/repeat-check.ts'
import { ApiResponse } from '../http/response.ts'
import { readQuota } from '../quotas/quotas.ts'
import { toCallbackChange } from '../tasks/new-task.ts'
import { type Call, on, type Publication, type QstashRoutes, readPublication } from './call.ts'
import { fieldsOf, presentRequest } from './messages.ts'
import {
  queueDefaults,
  readDestination,
  readPublished,
  refuseUnpublishable,
  toBody,
  toPayload,
  toStoredFields,
} from './publish/message-task.ts'
import { badRequest, notOffered } from './qstash-error.ts'

const create = on('cron_job.write', async call => storeSchedule(call, await readPublication(call)))
const pause = on('cron_job.write', call => move(call, 'cron_job.paused', pauseCronJob))
const resume = on('cron_job.write', call => move(call, 'cron_job.resumed', resumeCronJob))

export const scheduleRoutes: QstashRoutes = [
  ['/schedules', { get: on('cron_job.read', listSchedules) }],
  [
    '/schedules/:id',
    {
      get: on('cron_job.read', getSchedule),
      delete: on('cron_job.delete', call => move(call, 'cron_job.deleted', removeCronJob)),
      post: create,
    },
  ],
  ['/schedules/:id/pause', { patch: pause, post: pause }],
  ['/schedules/:id/resume', { patch: resume, post: resume }],
  [/^\/schedules\/./, { post: create }],
]

/** Creates a schedule, or replaces the one with the same id. */
export async function storeSchedule(call: Call<'cron_job.write'>, publication: Publication): Promise<ApiResponse> {
  const { ctx, caller } = call
  const options = readPublished(ctx, publication)
  if (options.cron === null) throw badRequest('Upstash-Cron is missing')
  if (options.notBefore !== null) throw notOffered('A schedule has no Upstash-Not-Before.')
  if (options.delayMs > maxDelayMs) throw badRequest('invalid Upstash-Delay: a schedule delays by a year at most')
  const found = readDestination(ctx, publication.destination)
  if ('group' in found) throw notOffered('A schedule of Belfry has a URL: create one schedule for each endpoint.')
  refuseUnpublishable(await readQuota(ctx, caller.organizationId), publication.body, false)
  const body: CreateCronJobBody = {
    ...defaultRules, // first: it has labels, too
    ...toBody(found, options, toPayload(publication.body, options)),
    ...readSchedule(call, options.cron),
  }
  const { id, key: _, workspaceId, ...job } = toNewCronJob(caller.workspaceId, body, '')
  const scheduleId = options.scheduleId ?? toId('scd', id)
  const fields = { ...job, qstashId: scheduleId, qstash: toStoredFields(found, { ...options, scheduleId }, caller) }
  // The callbacks, too, are replaced: a change would keep those that it does not name.
  const change = { ...fields, callbacks: toCallbackChange(body) ?? null }
  const replace = (existing: string) => rewriteCronJob(ctx, caller, existing, change, body, queueDefaults)
  const existing = await findId(ctx.pool, workspaceId, scheduleId)
  try {
    if (existing !== null) await replace(existing)
    else await addCronJob(workOf(ctx), call, { ...fields, id, workspaceId }, { queues: [body.queue], queueDefaults })
  } catch (error) {
    // Another request with the same id may have created it meanwhile.
    const created = isUniqueViolation(error) ? await findId(ctx.pool, workspaceId, scheduleId) : null
    if (created === null) throw error
    await replace(created)
  }
  return new ApiResponse({ status: 201, body: { scheduleId } })
}

const maxDelayMs = 365 * 86_400_000

async function listSchedules(call: Call<'cron_job.read'>): Promise<ApiResponse> {
  const { ctx, request, caller } = call
  const scan = scanCronJobs(caller.workspaceId, {})
  const checkAgain = repeatCheck(() => authorizeAgain(ctx, request, 'cron_job.read'))
  const read = async (after: string | undefined) => {
    await checkAgain()
    return readBounded<CronJobRow>(ctx, scan, after, schedulesAtATime)
  }
  const first = await read(undefined)
  const headers = { 'Content-Type': 'application/json; charset=utf-8' }
  return new ApiResponse({ status: 200, headers, pieces: pieces() })

  // The list has no pages, so it is sent as it is read.
  async function* pieces() {
    let mark = '['
    for (let page = first; ; page = await read(page.next)) {
      for (const schedule of await present(call, page.rows)) {
        yield mark + toJsonText(schedule)
        mark = ','
      }
      if (page.next === null) break
    }
    yield mark === '[' ? '[]' : ']'
  }
}

const schedulesAtATime = 1_000

async function getSchedule(call: Call<'cron_job.read'>) {
  const job = await findCronJob(call.ctx.pool, call.caller.workspaceId, await idOf(call))
  const [schedule = null] = job ? await present(call, [job]) : []
  return schedule
}

async function move<A extends CronJobAction>(
  call: Call<(typeof auditRights)[A]>,
  action: A,
  change: typeof resumeCronJob,
): Promise<void> {
  await moveCronJob(call.ctx, call.caller, { id: await idOf(call), action }, change)
}

function readSchedule({ ctx }: Call, text: string): { cron: string; timezone: string } {
  const [, zone, given = ''] = /^\s*(?:(?:CRON_)?TZ=(\S+)\s+)?(.*?)\s*$/.exec(text) ?? []
  const timezone = zone ?? 'UTC'
  if (!isTimeZone(timezone)) throw badRequest(`invalid Upstash-Cron: "${timezone}" is not a time zone`)
  const cron = (cronNames[given.toLowerCase()] ?? given).replace(/\s+/g, ' ')
  const parsed = parseCron(cron)
  if (!parsed.ok) throw badRequest(`invalid Upstash-Cron: ${parsed.message}`)
  if (nextScheduled({ cron: parsed.cron, timezone, startsAt: null, endsAt: null }, ctx.clock.now()) === null) {
    throw badRequest('invalid Upstash-Cron: it has no next time')
  }
  return { cron, timezone }
}

// A cron job that was not created as a schedule has the id of one, too.
async function findId(db: Db, workspaceId: string, scheduleId: string): Promise<string | null> {
  const text = `
    SELECT id FROM cron_jobs WHERE workspace_id = $1 AND (qstash_id = $2 OR id = $3 AND qstash_id IS NULL)
    ORDER BY qstash_id LIMIT 1`
  const values = [workspaceId, scheduleId, fromId('scd', scheduleId)]
  const { rows } = await db.query<{ id: string }>({ name: 'find_schedule', text, values })
  return rows[0]?.id ?? null
}

async function idOf({ ctx, caller, name }: Call): Promise<string> {
  return (await findId(ctx.pool, caller.workspaceId, name)) ?? NIL_UUID
}

type Occurrence = { job: string; id: string; at: Date; state: TaskState }

const shownOccurrences = 5

async function present({ ctx }: Call<'cron_job.read'>, jobs: readonly CronJobRow[]) {
  const text = `
    SELECT t.cron_job_id AS job, t.id, t.occurrence_at AS at, t.state
    FROM unnest($1::uuid[]) AS j (id) CROSS JOIN LATERAL (
      SELECT * FROM tasks t
      WHERE t.cron_job_id = j.id AND t.occurrence_at <= now() AND t.attempts > 0
      ORDER BY t.cron_job_id, t.id DESC LIMIT ${shownOccurrences}
    ) t`
  const { rows } = await ctx.pool.query<Occurrence>(text, [jobs.map(({ id }) => id)])
  const occurrencesOf = (id: string) => rows.filter(({ job }) => job === id)
  return jobs.map(job => presentOne(job, occurrencesOf(job.id), ctx.clock.now()))
}

function presentOne(job: CronJobRow, occurrences: readonly Occurrence[], now: number) {
  const { maxRetries, ...request } = presentRequest(job)
  const { delayMs } = fieldsOf(job)
  const schedule = job.pausedAt === null ? readableScheduleOf(job) : null
  const next = schedule && nextScheduled(schedule, now)
  const last = occurrences[0]
  return {
    scheduleId: job.qstashId ?? toId('scd', job.id),
    cron: job.timezone === 'UTC' ? job.cron : `CRON_TZ=${job.timezone} ${job.cron}`,
    destination: job.url,
    ...request,
    retries: maxRetries,
    delay: delayMs && delayMs / 1000,
    isPaused: job.pausedAt !== null,
    createdAt: job.createdAt.getTime(),
    lastScheduleTime: last?.at.getTime(),
    nextScheduleTime: next?.atMs,
    lastScheduleStates:
      last && Object.fromEntries(occurrences.map(({ id, state }) => [toId('msg', id), stateOf(state)])),
  }
}

function stateOf(state: TaskState): 'IN_PROGRESS' | 'SUCCESS' | 'FAIL' {
  if (state === 'success') return 'SUCCESS'
  return state === 'dead' || state === 'cancelled' ? 'FAIL' : 'IN_PROGRESS'
}
