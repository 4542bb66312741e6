import { burst, called, lasting, restartDispatcherUntil, untilInState } from '../fixture/moments.ts'
import { startPoisonTarget } from '../fixture/poison-target.ts'
import { uuidOf } from '../fixture/task-uuid.ts'
import type { Row } from '../row.ts'

const neighbours = 30
const tasks = 500
// Claims that a dispatcher released just before it died: at most one entry of the send journal.
const maxLostUnsent = 32
const deathNoticedMs = 15_000

/** A dispatcher dies with the tasks of other workspaces in flight. */
export const deathsUnderLoad: Row[] = [
  {
    id: 'S30',
    fault: 'a task that kills each process that calls it, beside 30 slow tasks of another workspace',
    moment: 'M3',
    expected: 'all 30 succeed and are repeated at most once each; the task is dead with its reason',
    async run(fixture) {
      const poison = await startPoisonTarget(1_500)
      fixture.onClose(() => poison.close())
      await fixture.startAll()
      const dueAt = Date.now() + 8_000
      const slow = { answers: [{ status: 200, delayMs: 4_000 }], timeoutMs: 10_000, caller: 1 } as const
      for (let i = 0; i < neighbours; i++) await fixture.create({ ...slow, path: `/beside-${i}`, executeAt: dueAt })
      const task = await fixture.create({ path: '/poison', url: poison.url, executeAt: dueAt, timeoutMs: 10_000 })
      const id = uuidOf(task.id ?? '')
      const isOver = async () => {
        const text = `SELECT 1 FROM tasks WHERE (id = $1 AND state <> 'dead') OR (id <> $1 AND state <> 'success') LIMIT 1`
        return (await fixture.sql(text, [id])).length === 0
      }
      await restartDispatcherUntil(fixture, {}, isOver, 240_000)
      fixture.notes.push(`${poison.kills()} processes killed, ${fixture.target.count()} calls of the 30`)
      const [worst] = await fixture.sql<{ n: number }>(
        `SELECT max(n)::int AS n FROM (SELECT count(*) AS n FROM runs
           WHERE error_code = 'worker_lost' AND task_id <> $1 GROUP BY task_id) lost`,
        [id],
      )
      fixture.demand((worst?.n ?? 0) <= 1, `A neighbour was repeated ${worst?.n} times.`)
      const [last] = await fixture.sql<{ message: string }>(
        'SELECT error_message AS message FROM runs WHERE task_id = $1 ORDER BY attempt DESC LIMIT 1',
        [id],
      )
      fixture.demand(/not tried again/.test(last?.message ?? ''), `The last run says ${last?.message}`)
      return { poison: [id], restMs: 30_000 }
    },
  },
  {
    id: 'S31',
    fault: 'kill -9 of one of two dispatchers, 500 tasks in flight or prefetched',
    moment: 'M2, M3',
    expected:
      'unsent tasks start within 15 s; only attempts that were sent, or released just before the kill (at most 32), are lost',
    async run(fixture) {
      const capacity = { env: { HOST_CONCURRENCY: '50' } }
      const { dispatcher } = await fixture.startAll({ dispatcher: capacity })
      await fixture.start('dispatcher', capacity)
      await burst(fixture, tasks, { inMs: 18_000, answers: [{ status: 200, delayMs: 250 }], timeoutMs: 20_000 })
      // Some attempts have ended by then, which is when a dispatcher prefetches.
      await called(fixture, 150)
      const claimed = await fixture.count(`tasks WHERE state = 'processing'`)
      await dispatcher.stop('SIGKILL')
      const [killed] = await fixture.sql<{ at: Date }>('SELECT clock_timestamp() AS at')
      await untilInState(fixture, ['success'], tasks, 90_000)
      const [seen] = await fixture.sql<{ lateS: number; lost: number }>(
        `SELECT (SELECT max(extract(epoch FROM first - $1))::float8 FROM (
                  SELECT min(started_at) AS first FROM runs WHERE error_code IS DISTINCT FROM 'worker_lost' AND task_id NOT IN (
                    SELECT task_id FROM runs WHERE error_code = 'worker_lost') GROUP BY task_id) firsts) AS "lateS",
                (SELECT count(*)::int FROM runs WHERE error_code = 'worker_lost') AS lost`,
        [killed?.at],
      )
      await lasting(500)
      const lostUnsent = tasks + (seen?.lost ?? 0) - fixture.target.count()
      fixture.notes.push(`${claimed} were claimed at the kill, ${seen?.lost} lost, ${lostUnsent} of them never sent`)
      const undone = await fixture.count(`fixture.transitions WHERE from_state = 'processing' AND to_state = 'pending'`)
      fixture.notes.push(`${undone} claims undone`)
      fixture.notes.push(`the other tasks started at most ${seen?.lateS.toFixed(1)} s after the kill`)
      // The survivor also has to work off the backlog, with 60 tasks a second.
      fixture.demand((seen?.lateS ?? 99) * 1_000 < deathNoticedMs + 5_000, `A task started ${seen?.lateS} s later.`)
      fixture.demand(lostUnsent <= maxLostUnsent, `${lostUnsent} attempts were lost and never sent.`)
      return { restMs: 90_000 }
    },
  },
]
