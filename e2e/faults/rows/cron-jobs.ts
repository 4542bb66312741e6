import { waitFor } from '@belfry/test-support/wait-for'
import { ageCronJobs, areOccurrencesDone, countOccurrences } from '../fixture/cron-moments.ts'
import type { Fixture } from '../fixture/fixture.ts'
import { burst, called, freeze, lasting, restartPostgres, untilInState } from '../fixture/moments.ts'
import { publicId } from '../fixture/task-uuid.ts'
import type { Row } from '../row.ts'

const catchUps = ['all', 'latest', 'none'] as const
const minuteMs = 60_000

/** The scheduler of cron jobs dies, their queue is lost, or they are stopped while they run. */
export const cronJobs: Row[] = [
  {
    id: 'F26',
    aboutRedis: true,
    fault: 'FLUSHALL every 2 s',
    moment: 'C2, C3',
    expected: 'no occurrence lost or made twice',
    async run(fixture) {
      await fixture.startAll()
      await createThree(fixture)
      await ageCronJobs(fixture, 10)
      for (let i = 0; i < 15; i++) {
        await fixture.redis.client.flushall()
        await lasting(2_000)
      }
      await untilDone(fixture, 10)
      return {}
    },
  },
  ...[
    ['F53', 'C1', 'before_expand', 'each occurrence is made by the next round, and called once'] as const,
    ['F54', 'C2', 'expanded_cron_jobs', 'each occurrence is called once'] as const,
  ].map(
    ([id, moment, failpoint, expected]): Row => ({
      id,
      fault: 'kill -9 scheduler, three times',
      moment,
      expected,
      async run(fixture) {
        const { scheduler } = await fixture.startAll()
        await createThree(fixture)
        await scheduler.stop('SIGKILL')
        await ageCronJobs(fixture, 10)
        for (let i = 0; i < 3; i++) {
          // There is no failpoint before the insert, so a slow trigger delays it.
          const isBefore = failpoint === 'before_expand'
          const doomed = fixture.spawn('scheduler', isBefore ? {} : { failpoints: `scheduler.${failpoint}=kill` })
          if (isBefore) await killInExpansion(fixture, doomed.pid)
          else await Promise.race([doomed.ended, lasting(6_000)])
          await doomed.stop('SIGKILL')
        }
        await fixture.start('scheduler')
        await untilDone(fixture, 10)
        return {}
      },
    }),
  ),
  {
    id: 'F55',
    fault: 'kill -9 scheduler, five times within ten seconds',
    moment: 'C3',
    expected: 'the next run and the occurrences fit together; none is made twice',
    async run(fixture) {
      let { scheduler } = await fixture.startAll()
      await createThree(fixture)
      for (let i = 0; i < 5; i++) {
        await ageCronJobs(fixture, 3)
        await lasting(500 + i * 300)
        await scheduler.stop('SIGKILL')
        scheduler = await fixture.start('scheduler')
      }
      await untilDone(fixture, 3)
      return {}
    },
  },
  ...[
    ['F57', 7],
    ['S34', 30],
  ].map(
    ([id, minutes]): Row => ({
      id: String(id),
      fault: `all schedulers were down for ${minutes} min`,
      moment: 'cron',
      expected:
        'each cron job catches up as it says; the other occurrences are cancelled as missed; none is called twice',
      async run(fixture) {
        const { scheduler } = await fixture.startAll()
        await scheduler.stop('SIGKILL')
        await createThree(fixture)
        await ageCronJobs(fixture, Number(minutes))
        await Promise.all([fixture.start('scheduler'), fixture.start('scheduler')])
        await waitFor(
          () => countOccurrences(fixture),
          counts => Object.values(counts).reduce((sum, n) => sum + n, 0) >= 3 * Number(minutes),
          30_000,
        )
        await untilDone(fixture, Number(minutes))
        // The minute may change while the row runs.
        for (const path of ['/latest', '/none']) {
          const hits = fixture.target.count(path)
          fixture.demand(hits <= 3, `${path} was called ${hits} times.`)
        }
        fixture.notes.push(JSON.stringify(await countOccurrences(fixture)))
        return { latenessMs: (Number(minutes) + 2) * 60_000 }
      },
    }),
  ),
  {
    id: 'F74',
    fault: 'PATCH, pause and DELETE of a cron job while its occurrence is being sent',
    moment: 'M3',
    expected: 'the attempt in flight ends as usual; no later occurrence starts',
    async run(fixture) {
      await fixture.startAll()
      const slow = { answers: [{ status: 200, delayMs: 3_000 }], timeoutMs: 10_000 }
      const [changed, paused, deleted] = await Promise.all(
        ['/changed', '/paused', '/deleted'].map(path => fixture.createCronJob({ ...slow, path, catchUp: 'latest' })),
      )
      if (!changed || !paused || !deleted) throw new Error('Three were made.')
      await ageCronJobs(fixture, 1)
      for (const path of ['/changed', '/paused', '/deleted']) await fixture.target.reached(path, 1)
      const answers = await Promise.all([
        fixture.reschedule(changed, 30),
        fixture.operate(paused, 'pause'),
        fixture.operate(deleted, 'delete'),
      ])
      fixture.demand(
        answers.every(status => status === 200 || status === 204),
        `They were answered with ${answers.join()}.`,
      )
      await untilInState(fixture, ['success'], 3)
      await lasting(65_000)
      for (const path of ['/paused', '/deleted']) demandHitsOrMore(fixture, path, 1)
      return {}
    },
  },
  {
    id: 'S35',
    fault: 'cron jobs are paused or deleted while the circuit breaker of their host is open',
    moment: 'M2, undone claims',
    expected: 'none of them is called after the answer',
    async run(fixture) {
      await fixture.startAll()
      await burst(fixture, 60, { caller: 0, answers: [{ status: 500 }], maxRetries: 10, baseDelayMs: 2_000 })
      // As many as a host gets at once: half of twenty failures open its circuit breaker.
      await called(fixture, 32)
      const jobs = []
      for (let i = 0; i < 20; i++) jobs.push(await fixture.createCronJob({ path: `/cron-${i}`, catchUp: 'all' }))
      await ageCronJobs(fixture, 3)
      await lasting(8_000)
      const before = fixture.target.countMatching(/^\/cron-/)
      await Promise.all(
        jobs.map(async (job, i) => {
          await fixture.operate(job, 'pause')
          if (i % 2 === 0) await fixture.operate(job, 'delete')
        }),
      )
      fixture.notes.push(`${before} occurrences were called before the answers; ${await countUndone(fixture)} undone`)
      // It stays open for 30 s.
      await lasting(45_000)
      await postponeOthers(fixture)
      await lasting(3_000)
      await postponeOthers(fixture)
      // The circuit breaker may open twice.
      return { restMs: 90_000, latenessMs: 120_000 }
    },
  },
  {
    id: 'S36',
    fault: 'cron jobs are paused, then deleted, under a backlog',
    moment: 'M1, M2',
    expected: 'none of them is called after the answer of its pause',
    async run(fixture) {
      await fixture.startAll({ dispatcher: { env: { HOST_CONCURRENCY: '4' } } })
      await burst(fixture, 200, { caller: 0, inMs: 8_000, answers: [{ status: 200, delayMs: 400 }] })
      const jobs = []
      for (let i = 0; i < 20; i++) jobs.push(await fixture.createCronJob({ path: `/cron-${i}`, catchUp: 'all' }))
      await ageCronJobs(fixture, 4)
      await called(fixture, 40)
      await Promise.all(
        jobs.map(async job => {
          await lasting(Math.random() * 4_000)
          await fixture.operate(job, 'pause')
          await lasting(Math.random() * 500)
          await fixture.operate(job, 'delete')
        }),
      )
      fixture.notes.push(`${fixture.target.countMatching(/^\/cron-/)} occurrences were called`)
      await untilInState(fixture, ['success'], 200, 60_000)
      return { restMs: 60_000 }
    },
  },
  {
    id: 'S37',
    fault: 'an occurrence is cancelled by its user, then its cron job is paused and resumed',
    moment: 'pending',
    expected: 'the occurrence stays cancelled, the next ones are made',
    async run(fixture) {
      await fixture.startAll()
      const job = await fixture.createCronJob({ path: '/cron' })
      const [next] = await waitFor(
        () =>
          fixture.sql<{ id: string }>(
            `SELECT id FROM tasks WHERE state = 'pending' AND occurrence_at > clock_timestamp() + interval '3 seconds'
             ORDER BY occurrence_at LIMIT 1`,
          ),
        rows => rows.length === 1,
      )
      const cancelled = await fixture.cancel(publicId('task', next?.id ?? ''))
      fixture.demand(cancelled.status === 200, `The DELETE was answered with ${cancelled.status}.`)
      await fixture.operate(job, 'pause')
      await fixture.operate(job, 'resume')
      await lasting(66_000)
      return {}
    },
  },
  ...(['Postgres down', 'STOP dispatcher'] as const).map(
    (fault, i): Row => ({
      id: `S7${8 + i}`,
      fault: `${fault} for 75 s, while an occurrence of each cron job comes due`,
      moment: 'cron',
      expected: 'each cron job catches up as it says when its occurrence is more than 10 s old, without a restart',
      async run(fixture) {
        const { dispatcher } = await fixture.startAll()
        await createThree(fixture)
        // The next minute begins and the one after it does not, so exactly one occurrence is missed.
        await waitFor(
          async () => new Date().getSeconds(),
          second => second >= 15 && second <= 30,
          61_000,
        )
        const missedAt = new Date((Math.floor(Date.now() / minuteMs) + 1) * minuteMs)
        if (fault === 'Postgres down') await restartPostgres(fixture, 75_000)
        else await freeze(fixture, dispatcher, 75_000)
        const states = () =>
          fixture.sql<{ path: string; state: string }>(
            `SELECT r.name AS path, coalesce(t.state_reason, t.state::text) AS state
             FROM tasks t JOIN task_requests r ON r.task_id = t.id WHERE t.occurrence_at = $1 ORDER BY r.name`,
            [missedAt],
          )
        const ended = await waitFor(
          states,
          all => all.length === 3 && !all.some(({ state }) => ['pending', 'processing', 'retrying'].includes(state)),
          60_000,
        )
        const seen = ended.map(({ path, state }) => `${path} ${state}`).join()
        fixture.demand(seen === '/all success,/latest success,/none missed', `The occurrences ended as ${seen}.`)
        return { latenessMs: 120_000 }
      },
    }),
  ),
]

async function createThree(fixture: Fixture): Promise<void> {
  for (const catchUp of catchUps) await fixture.createCronJob({ path: `/${catchUp}`, catchUp })
}

// The cron job with catch_up all is called for each occurrence, and a few times more as time passes.
async function untilDone(fixture: Fixture, occurrences: number): Promise<void> {
  await fixture.target.reached('/all', occurrences, 60_000)
  await waitFor(() => areOccurrencesDone(fixture), Boolean, 60_000)
  demandHitsOrMore(fixture, '/all', occurrences)
}

function demandHitsOrMore(fixture: Fixture, path: string, min: number): void {
  const hits = fixture.target.count(path)
  fixture.demand(hits >= min && hits <= min + 3, `${path} was called ${hits} times, not ${min} or a few more.`)
}

// The failed tasks would keep the circuit breaker open for minutes.
async function postponeOthers(fixture: Fixture): Promise<void> {
  await fixture.sql(
    `UPDATE tasks SET due_at = due_at + interval '1 year' WHERE cron_job_id IS NULL AND state IN ('pending', 'retrying')`,
  )
}

function countUndone(fixture: Fixture): Promise<number> {
  return fixture.count(`(
    SELECT DISTINCT task_id FROM fixture.transitions JOIN tasks t ON t.id = task_id
    WHERE t.cron_job_id IS NOT NULL AND from_state = 'processing' AND fixture.transitions.attempts = 0
  ) undone`)
}

// Makes every insert of tasks slow, waits until the scheduler is in one, and kills it there.
async function killInExpansion(fixture: Fixture, pid: number): Promise<void> {
  await fixture.sql(`
    CREATE OR REPLACE FUNCTION fixture.slow_insert() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN PERFORM pg_sleep(2); RETURN NULL; END $$`)
  await fixture.sql('DROP TRIGGER IF EXISTS slow_insert ON tasks')
  await fixture.sql(
    'CREATE TRIGGER slow_insert BEFORE INSERT ON tasks FOR EACH STATEMENT EXECUTE FUNCTION fixture.slow_insert()',
  )
  await waitFor(
    () => fixture.sql(`SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'`),
    rows => rows.length > 0,
  )
  process.kill(pid, 'SIGKILL')
  await waitFor(
    () => fixture.sql(`SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'`),
    rows => rows.length === 0,
  )
  await fixture.sql('DROP TRIGGER slow_insert ON tasks')
}
