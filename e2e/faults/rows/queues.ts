import { waitFor } from '@belfry/test-support/wait-for'
import type { TaskSpec } from '../fixture/api-operations.ts'
import { demandHits, demandKilled } from '../fixture/demands.ts'
import type { Fixture } from '../fixture/fixture.ts'
import { burst, called, freeze, lasting, restartPostgres, untilInState, untilTaskIs } from '../fixture/moments.ts'
import { uuidOf } from '../fixture/task-uuid.ts'
import { setSuspended } from '../fixture/workspaces.ts'
import type { Row } from '../row.ts'

// The scheduler notices a death after 12 s; it spreads the lost tasks over some seconds more.
const noticedMs = 30_000
const two = { name: 'two', max_concurrent: 2 }
const rated = { name: 'rated', rate_limit: { count: 5, period_ms: 1_000 } }
const ordered = { name: 'ordered', ordered: true }

const slow = { answers: [{ status: 200, delayMs: 300 }], timeoutMs: 5_000 }
const onceFailing = { answers: [{ status: 500 }, { status: 200 }] }
const hanging = { answers: [{ does: 'hang' } as const, { status: 200 }], timeoutMs: 60_000 }

/** Faults while queues and hosts limit, block and order their tasks. The checker verifies the limits of every queue (I15). */
export const queues: Row[] = [
  {
    id: 'S70',
    fault: 'kill -9 of a dispatcher that holds permits of queues; another one lives',
    moment: 'M3',
    expected: 'max_concurrent, rate_limit and order hold throughout; the permits are free once the death is noticed',
    async run(fixture) {
      const { dispatcher } = await fixture.startAll()
      await fixture.start('dispatcher')
      await fillQueues(fixture, 12)
      await called(fixture, 10)
      await dispatcher.stop('SIGKILL')
      await untilInState(fixture, ['success'], 36, 120_000)
      return {}
    },
  },
  {
    id: 'S71',
    fault: 'Postgres immediate restart while queues block tasks, one of them paused',
    moment: 'load',
    expected: 'the limits hold, nothing is lost, and the paused queue starts nothing before its resume',
    async run(fixture) {
      await fixture.startAll()
      const paused = { name: 'paused', ordered: true }
      await createInOrder(fixture, 'paused', 5, () => ({ queue: paused, inMs: 3_000 }))
      await fixture.operateQueue('paused', 'pause')
      await fillQueues(fixture, 12)
      await called(fixture, 10)
      const blocked = await fixture.count(`tasks WHERE waits_for = 1 AND finished_at IS NULL`)
      fixture.demand(blocked > 5, `Only ${blocked} tasks were blocked.`)
      await restartPostgres(fixture, 1_000)
      await untilInState(fixture, ['success'], 36, 60_000)
      fixture.demand(fixture.target.countMatching(/paused/) === 0, 'A task of the paused queue was called.')
      await fixture.operateQueue('paused', 'resume')
      await untilInState(fixture, ['success'], 41)
      return {}
    },
  },
  {
    id: 'S72',
    fault: 'POST /stop of retrying tasks at the head of ordered queues, and kill -9 dispatcher',
    moment: 'retrying, and lost',
    expected: 'the stopped task starts no attempt, and the next one of its queue starts',
    async run(fixture) {
      const { dispatcher } = await fixture.startAll()
      const lost = { name: 'lost', ordered: true }
      const failing = { answers: [{ status: 500 }], baseDelayMs: 60_000 }
      const [failed] = await createInOrder(fixture, 'failed', 4, i => ({ queue: ordered, ...(i === 0 ? failing : {}) }))
      const [hung] = await createInOrder(fixture, 'hung', 4, i => ({ queue: lost, ...(i === 0 ? hanging : {}) }))
      await untilTaskIs(fixture, failed?.id ?? null, 'retrying', 30_000)
      await called(fixture, 2)
      await Promise.all([dispatcher.stop('SIGKILL'), fixture.stop(failed?.id ?? '')])
      // Its attempt was lost with the dispatcher. No dispatcher lives that could start another one.
      await untilTaskIs(fixture, hung?.id ?? null, 'retrying', noticedMs)
      await fixture.stop(hung?.id ?? '')
      const statuses = fixture.stops.map(({ status }) => status).join()
      fixture.demand(statuses === '200,200', `The stops were answered with ${statuses}.`)
      await fixture.start('dispatcher')
      await untilInState(fixture, ['success'], 6, 60_000)
      demandHits(fixture, 8)
      return {}
    },
  },
  {
    id: 'S73',
    fault: 'Postgres down for 8 s, in which the deadlines of queued and retrying tasks pass',
    moment: 'load',
    expected: 'what has expired is dead without another attempt, and the tasks behind it start',
    async run(fixture) {
      await fixture.startAll()
      const mayExpire = { expiresInMs: 5_000 }
      // The first is in flight during the outage, or retries after its deadline.
      const first = {
        answers: [{ status: 500, delayMs: 1_000 }, { status: 200 }],
        timeoutMs: 5_000,
        baseDelayMs: 4_000,
      }
      await createInOrder(fixture, 'late', 6, i => ({
        queue: ordered,
        inMs: 3_000,
        ...(i === 0 ? first : {}),
        ...(i < 4 ? mayExpire : {}),
      }))
      await called(fixture, 1)
      await restartPostgres(fixture, 8_000)
      await untilInState(fixture, ['success', 'dead'], 6, 60_000)
      const expired = await fixture.count(`tasks WHERE state = 'dead' AND state_reason = 'expired'`)
      fixture.notes.push(`${expired} expired`)
      fixture.demand(expired === 4, `${expired} tasks expired, not 4.`)
      demandHits(fixture, 3)
      return {}
    },
  },
  {
    id: 'S74',
    fault: 'kill -9 dispatcher between a record and the wake-up of the next task of its queue; another one starts',
    moment: 'M6',
    expected: 'the scheduler finds the queue, and the next task starts within 5 s of the start',
    async run(fixture) {
      const { dispatcher } = await fixture.startAll({
        dispatcher: { failpoints: 'dispatcher.before_advance=kill' },
      })
      await createInOrder(fixture, 'next', 4, () => ({ queue: ordered }))
      await demandKilled(fixture, dispatcher)
      await untilInState(fixture, ['success'], 1)
      demandHits(fixture, 1)
      await fixture.start('dispatcher')
      const startedAt = performance.now()
      await called(fixture, 2)
      const waitedMs = Math.round(performance.now() - startedAt)
      fixture.notes.push(`the next task started ${waitedMs} ms after a dispatcher`)
      fixture.demand(waitedMs < 5_000, `The next task started after ${waitedMs} ms.`)
      await untilInState(fixture, ['success'], 4)
      demandHits(fixture, 4)
      return {}
    },
  },
  {
    id: 'S75',
    fault: 'kill -9 of a dispatcher while a host that gets one call at a time has a backlog',
    moment: 'M3',
    expected: 'the host gets one call at a time, also while the lost call is repeated',
    async run(fixture) {
      const one = { env: { HOST_CONCURRENCY: '1' } }
      const { dispatcher } = await fixture.startAll({ dispatcher: one })
      await burst(fixture, 20, { caller: 0, answers: [{ status: 200, delayMs: 1_500 }], timeoutMs: 10_000 })
      await called(fixture, 2)
      await dispatcher.stop('SIGKILL')
      await fixture.start('dispatcher', one)
      await untilInState(fixture, ['success'], 20, 120_000)
      demandHits(fixture, 21)
      const hits = fixture.target.hits(at => at)
      const isOpen = (at: number) => hits.filter(hit => hit.at <= at && (hit.until ?? Infinity) > at).length
      const most = Math.max(...hits.map(({ at }) => isOpen(at)))
      fixture.demand(most === 1, `The host got ${most} calls at once.`)
      return {}
    },
  },
  {
    id: 'S76',
    fault:
      'kill -9 of the scheduler during operations on 1,500 tasks: a cancel, a stop, and a replay of an ordered queue',
    moment: 'load',
    expected: 'each operation ends and has done what it says: nothing ended is called, and replays keep their order',
    async run(fixture) {
      let { scheduler } = await fixture.startAll()
      const operate = async (action: 'cancel' | 'stop' | 'replay', caller: 0 | 1) => {
        const status = await fixture.operateAll(action, caller)
        fixture.demand(status === 202, `The ${action} was answered with ${status}.`)
        await scheduler.stop('SIGKILL')
        scheduler = await fixture.start('scheduler')
        await waitFor(
          () => fixture.count('bulk_operations WHERE finished_at IS NULL'),
          open => open === 0,
          60_000,
        )
      }
      const failing = { answers: [{ status: 500 }, { status: 200 }], maxRetries: 0 }
      await createInOrder(fixture, 'replayed', 20, () => ({ queue: ordered, inMs: 4_000, ...failing }))
      await burst(fixture, 30, { caller: 1, answers: [{ status: 404 }], baseDelayMs: 300_000, inMs: 4_000 })
      await untilInState(fixture, ['dead'], 20)
      await untilInState(fixture, ['retrying'], 30)
      await addPending(fixture, 1_500)
      await operate('stop', 1)
      await operate('cancel', 1)
      await operate('replay', 0)
      await untilInState(fixture, ['success'], 20)
      const ended = await fixture.count(`tasks WHERE state_reason IN ('user', 'stopped')`)
      fixture.demand(ended === 1_530, `${ended} tasks were ended, not 1,530.`)
      return {}
    },
  },
  {
    id: 'S77',
    fault:
      'the workspaces of a backlog are suspended, resumed and deleted while a dispatcher is killed and one is frozen',
    moment: 'load',
    expected: 'nothing starts while a workspace is suspended, and nothing after the answer to its deletion',
    async run(fixture) {
      const { dispatcher } = await fixture.startAll({ dispatcher: { env: { HOST_CONCURRENCY: '4' } } })
      const other = await fixture.start('dispatcher', { env: { HOST_CONCURRENCY: '4' } })
      await burst(fixture, 200, { inMs: 8_000, answers: [{ status: 200, delayMs: 300 }] })
      await called(fixture, 20)
      await setSuspended(fixture, 0, true)
      await Promise.all([dispatcher.stop('SIGKILL'), freeze(fixture, other, 6_000)])
      await lasting(14_000)
      await setSuspended(fixture, 0, false)
      const { status } = await fixture.deleteWorkspace(1)
      fixture.demand(status === 204, `The deletion was answered with ${status}.`)
      await untilInState(fixture, ['success', 'cancelled'], 200, 120_000)
      return {}
    },
  },
]

// Through SQL: so many calls of the API would take longer than the operation.
async function addPending(fixture: Fixture, count: number): Promise<void> {
  await fixture.sql(
    `WITH made AS (
       INSERT INTO tasks (id, workspace_id, source, execute_at, due_at)
       SELECT uuid_v7(clock_timestamp()), $1::uuid, 'task', now() + interval '30 seconds', now() + interval '30 seconds'
       FROM generate_series(1, $2::int) RETURNING id
     )
     INSERT INTO task_requests (task_id, name, url, method, max_retries, backoff, base_delay_ms, max_delay_ms, timeout_ms)
     SELECT id, '/pending', $3, 'POST', 0, 'fixed', 1000, 1000, 1000 FROM made`,
    [uuidOf(fixture.callers[1]?.workspaceId ?? ''), count, fixture.target.url('/pending')],
  )
}

// Tasks of a queue with max_concurrent, one with a rate limit, and an ordered one in which some fail once.
async function fillQueues(fixture: Fixture, each: number): Promise<void> {
  const inMs = 4_000
  await Promise.all([
    createInOrder(fixture, 'two', each, () => ({ queue: two, inMs, ...slow })),
    createInOrder(fixture, 'rated', each, () => ({ queue: rated, inMs })),
    createInOrder(fixture, 'ordered', each, i => ({ queue: ordered, inMs, ...(i % 4 === 1 ? onceFailing : {}) })),
  ])
}

// Creates tasks that are due at the same time, in the order of their creation.
async function createInOrder(fixture: Fixture, name: string, count: number, spec: (i: number) => Partial<TaskSpec>) {
  const created = []
  const executeAt = Date.now() + (spec(0).inMs ?? 2_500)
  for (let i = 0; i < count; i++) {
    created.push(await fixture.create({ path: `/${name}-${i}`, executeAt: executeAt + i, ...spec(i) }))
  }
  return created
}
