import { newUuid } from '@belfry/domain/id'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { expect, it } from 'vitest'
import { answerOnce, forgetIdempotencyKeys } from '../../src/answer-once.ts'
import { backfillCronJob } from '../../src/cron-jobs/backfill-cron-job.ts'
import { changeCronJob, createCronJob, triggerCronJob } from '../../src/cron-jobs/change-cron-job.ts'
import type { CronJobFields } from '../../src/cron-jobs/cron-job.ts'
import { expandCronJobs } from '../../src/cron-jobs/expand-cron-jobs.ts'
import { settleDeadLetters } from '../../src/dead-letters/settle-dead-letters.ts'
import { isTransientDatabaseError } from '../../src/postgres/database-errors.ts'
import { deleteEmptyWorkspace, purgeWorkspace } from '../../src/purge/purge-workspace.ts'
import { windDownWorkspace } from '../../src/purge/wind-down-workspace.ts'
import { deleteOldRuns, deleteTasks } from '../../src/retention/expire-log.ts'
import { changePendingTask, endTask } from '../../src/tasks/change-task.ts'
import type { ClaimedTask } from '../../src/tasks/claimed-row.ts'
import { insertTasks } from '../../src/tasks/insert-tasks.ts'
import { recordAttempts } from '../../src/tasks/record-attempts.ts'
import { replayTask } from '../../src/tasks/replay-task.ts'
import { foldUsageChanges } from '../../src/usage/fold-usage-changes.ts'
import { claimTasks } from '../claim-tasks.ts'
import { addWorkspace, anOrganization, aTask, claimant, finished, useOwnDatabase } from '../setup.ts'

const db = useOwnDatabase()

const textOf = (bytes: number) => `"${'x'.repeat(bytes)}"`
const someBytes = () => Math.floor(Math.random() * 500)
const headersOf = (bytes: number) => `{"X-Own":${textOf(bytes)}}`
/** Headers that count, and headers that do not. */
const someHeaders = () => headersOf(someBytes() * 4)
const extra = (free: number, lengths: string[]) =>
  `greatest(0, ${lengths.map(length => `coalesce(octet_length(${length}), 0)`).join(' + ')} - ${free})`

const callback = {
  ...{ url: 'https://example.com/', headers: headersOf(1_200), timeout_ms: 1_000 },
  retry: { max_retries: 0, backoff: 'fixed', base_delay_ms: 1_000, max_delay_ms: 1_000 },
}
const callbacks = JSON.stringify({ on_failure: callback })

/** Returns the sums including unfolded deltas, and the stored bytes counted one by one. */
async function compare(): Promise<Array<{ id: string; summed: number; stored: number }>> {
  const { rows } = await db.pool.query(`
    SELECT o.id,
      coalesce((SELECT bytes FROM storage s WHERE s.organization_id = o.id), 0)::float8
        + coalesce((
            SELECT sum(c.storage_bytes) FROM usage_changes c JOIN workspaces w ON w.id = c.workspace_id
            WHERE w.organization_id = o.id
          ), 0)::float8 AS summed,
      coalesce((
        SELECT sum(coalesce(octet_length(r.payload), 0)
          + ${extra(1024, ['r.name', 'r.url', 'r.headers', 'r.callbacks'])}) FROM task_requests r JOIN tasks t ON t.id = r.task_id
        JOIN workspaces w ON w.id = t.workspace_id WHERE w.organization_id = o.id
      ), 0)::float8
        + coalesce((
            SELECT sum(coalesce(octet_length(r.response_body), 0)
              + ${extra(4096, ['r.request_headers', 'r.response_headers'])}) FROM runs r JOIN workspaces w ON w.id = r.workspace_id
            WHERE w.organization_id = o.id
          ), 0)::float8
        + coalesce((
            SELECT sum(octet_length(k.answer)) FROM idempotency_keys k JOIN workspaces w ON w.id = k.workspace_id
            WHERE w.organization_id = o.id
          ), 0)::float8 AS stored
    FROM organizations o ORDER BY o.id`)
  return rows
}

function aCronJob(workspaceId: string): CronJobFields & { id: string; workspaceId: string } {
  return {
    ...{ id: newUuid(), workspaceId, name: 'n', cron: '* * * * *', timezone: 'UTC', startsAt: null, endsAt: null },
    ...{ overlap: 'allow', catchUp: 'all', url: 'https://example.com/', method: 'POST', headers: headersOf(1_500) },
    ...{ payload: textOf(40), maxRetries: 0, backoff: 'fixed', baseDelayMs: 1000, maxDelayMs: 1000, timeoutMs: 1000 },
  }
}

async function record(tasks: ClaimedTask[]): Promise<void> {
  await recordAttempts(
    db.pool,
    tasks.map((task, i) =>
      finished(task, {
        retryDelayMs: i % 4 === 0 ? 1 : null,
        requestHeaders: headersOf(3_000),
        responseHeaders: i % 3 === 0 ? null : headersOf(someBytes() * 4),
        state: (['retrying', 'success', 'dead', 'success'] as const)[i % 4] ?? 'success',
        status: i % 4 === 1 ? 'success' : 'failed',
        responseBody: i % 5 === 0 ? null : Buffer.alloc(someBytes()),
      }),
    ),
  )
}

it('the sums of storage are exact under all operations at once', async () => {
  const organizations = await Promise.all([1, 2].map(() => anOrganization(db.pool, 'unicorn')))
  const kept = organizations.map(({ workspaceId }) => workspaceId)
  const doomed = await Promise.all(organizations.map(({ organizationId }) => addWorkspace(db.pool, organizationId)))
  const workspaces = [...kept, ...doomed]
  const pick = <T>(items: readonly T[]): T => items[Math.floor(Math.random() * items.length)] as T // never of an empty list
  const jobs = workspaces.map(aCronJob)
  for (const job of jobs) await createCronJob(db.pool, job, 120_000)
  const pending: Array<{ id: string; workspaceId: string }> = []

  const store = async (count: number, executeAt: Date | null) => {
    const tasks = Array.from({ length: count }, () =>
      aTask({
        ...{ id: newUuid(), workspaceId: pick(workspaces), executeAt, payload: pick([null, textOf(someBytes())]) },
        ...{ headers: someHeaders(), callbacks: pick([null, callbacks]) },
      }),
    )
    await insertTasks(db.pool, tasks)
    if (executeAt) pending.push(...tasks)
  }
  const ids = async (condition: string, limit = 50): Promise<Array<{ id: string; workspaceId: string }>> =>
    (await db.pool.query(`SELECT id, workspace_id AS "workspaceId" FROM tasks WHERE ${condition} LIMIT ${limit}`)).rows

  const operations: Record<string, () => Promise<unknown>> = {
    create: () => store(1, null),
    batch: () => store(300, pick([null, new Date(Date.now() + 3_600_000)])),
    patch: async () => {
      const task = pick(pending)
      const change = () =>
        changePendingTask(
          ...([db.pool, task.workspaceId, task.id] as const),
          pick([
            { payload: pick([null, textOf(someBytes())]) },
            { headers: someHeaders() },
            { headers: someHeaders(), payload: textOf(someBytes()), name: 'x'.repeat(someBytes()) },
            { callbacks: pick([callbacks, '{"on_failure":null}']) },
          ]),
        )
      await Promise.all([change(), change(), change()])
    },
    cancel: async () => {
      const task = pick(pending)
      await endTask(db.pool, task.workspaceId, task.id, 'cancel')
    },
    expand: () => expandCronJobs(db.pool, { lookAheadMs: 20 * 60_000 + someBytes() * 60_000, limit: 10 }),
    'change of a cron job': async () => {
      const job = pick(jobs)
      const change = pick([
        { payload: textOf(someBytes()) },
        { headers: someHeaders() },
        { url: `https://example.com/${someBytes()}` },
      ])
      await changeCronJob(db.pool, job.workspaceId, job.id, change, 120_000)
    },
    trigger: async () => {
      const job = pick(jobs)
      await triggerCronJob(db.pool, job.workspaceId, job.id)
      const times = [new Date(Date.now() - 3_600_000), new Date(Date.now() - 1_800_000)]
      await backfillCronJob(db.pool, job.workspaceId, job.id, { times, perSecond: null })
    },
    attempts: async () => {
      const due = await ids(`state IN ('pending', 'retrying') AND due_at <= now()`, 60)
      const claims = await claimTasks(
        db.pool,
        claimant,
        due.map(({ id }) => ({ taskId: id, token: newUuid() })),
      )
      await record(claims.flatMap(claim => (claim.kind === 'claimed' ? [claim.task] : [])))
    },
    replay: async () => {
      for (const task of await ids(`state = 'success'`, 5)) await replayTask(db.pool, task.workspaceId, task.id)
    },
    settle: async () => {
      const letters = await ids(`state = 'dead' AND settled_at IS NULL AND workspace_id = '${pick(workspaces)}'`, 10)
      const [first] = letters
      const action = pick(['replay', 'discard'] as const)
      if (first)
        await settleDeadLetters(
          db.pool,
          first.workspaceId,
          letters.map(({ id }) => id),
          action,
        )
    },
    retention: () => deleteOldRuns(db.pool, pick(workspaces), -1, 40),
    'deletion of cancelled tasks': () => deleteTasks(db.pool, 'cancelled', pick(workspaces), -1, 40),
    'answers of idempotency keys': async () => {
      const request = { workspaceId: pick(workspaces), key: `k${someBytes() % 20}`, hash: Buffer.alloc(32) }
      const answer = { status: 201, location: null, answer: textOf(someBytes()) }
      await answerOnce(db.pool, request, async () => answer)
    },
    'expiry of answers': async () => {
      const text = `UPDATE idempotency_keys SET created_at = now() - interval '25 hours' WHERE key = $1`
      await db.pool.query(text, [`k${someBytes() % 20}`])
      if (Math.random() < 0.5) await forgetIdempotencyKeys(db.pool, 5)
    },
    fold: () => foldUsageChanges(db.pool, 50),
    'deletion of a workspace': async () => {
      for (const id of doomed) {
        await windDownWorkspace(db.pool, id)
        await db.pool.query(
          `UPDATE workspaces SET deleted_at = now() - interval '5 minutes' WHERE id = $1 AND wound_down_at IS NULL`,
          [id],
        )
        await purgeWorkspace(db.pool, id, 100)
        await deleteEmptyWorkspace(db.pool, id)
      }
    },
  }

  await store(300, new Date(Date.now() + 3_600_000))
  /** Runs operations at once, each again and again until all have run a number of times. */
  async function runAll(names: string[], times: number): Promise<void> {
    const done = new Map(names.map(name => [name, 0]))
    const isOver = () => [...done.values()].every(count => count >= times)
    await Promise.all(
      names.map(async name => {
        while (!isOver()) {
          await operations[name]?.().catch(error => {
            // A deadlock or a lock timeout rolls back the whole statement.
            if (!isTransientDatabaseError(error)) throw new Error(`${name}: ${error}`)
          })
          done.set(name, (done.get(name) ?? 0) + 1)
        }
      }),
    )
  }
  const names = Object.keys(operations)
  const times = propertyRuns(20, 4)
  await runAll(
    names.filter(name => name !== 'deletion of a workspace'),
    times,
  )
  await runAll(names, times)
  for (const { id, summed, stored } of await compare()) expect(summed, id).toBe(stored)
  // At last both workspaces are purged with all their storage.
  const left = async () => (await db.pool.query('SELECT FROM workspaces WHERE id = ANY ($1)', [doomed])).rowCount
  await expect
    .poll(
      async () => {
        await Promise.all([operations.attempts?.(), operations['deletion of a workspace']?.(), operations.fold?.()])
        return left()
      },
      { timeout: 30_000, interval: 1 },
    )
    .toBe(0)
  while ((await foldUsageChanges(db.pool, 1_000)) > 0);
  for (const { id, summed, stored } of await compare()) expect(summed, id).toBe(stored)
  expect((await compare()).some(({ stored }) => stored > 0)).toBe(true)
}, 90_000)
