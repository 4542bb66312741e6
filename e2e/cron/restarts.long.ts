import { fromId } from '@belfry/domain/id'
import { queueBackends, type Receiver, startReceiver } from '@belfry/test-support'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Belfry, startBelfry } from '../belfry.ts'

const cronJobs = '/api/v1/scheduler/cronjobs'
const minuteMs = 60_000
const minutely = '* * * * *'

type Occurrence = { id: string; state: string; at: Date }

describe.each(queueBackends())('a restart of the dispatcher and the scheduler, with the queue on %s', backend => {
  let belfry: Belfry
  let target: Receiver
  beforeAll(async () => {
    target = await startReceiver()
    belfry = await startBelfry(backend, { services: ['api', 'scheduler', 'dispatcher'] })
  })
  afterAll(async () => {
    await belfry?.close()
    await target?.close()
  })

  const create = async (path: string, fields: Record<string, unknown>) => {
    const body = { name: path, url: target.url(path), method: 'POST', ...fields }
    const { status, body: job } = await belfry.call('POST', cronJobs, body)
    expect(status).toBe(201)
    return job.id as string
  }

  /** Moves the occurrences and the last heartbeats into the past, as if the processes had stopped some minutes ago. */
  const age = async (minutes: number) => {
    // The unique key of occurrences allows no two at the same time, not even within a statement.
    for (const by of ['1000 days', `-1000 days -${minutes} minutes`])
      await belfry.execute(
        `UPDATE tasks SET execute_at = execute_at + $1::interval, due_at = due_at + $1::interval,
                          occurrence_at = occurrence_at + $1::interval, expires_at = expires_at + $1::interval
         WHERE state = 'pending' AND occurrence_at IS NOT NULL`,
        [by],
      )
    const past = `interval '${minutes} minutes'`
    await belfry.execute(`UPDATE cron_jobs SET next_run_at = next_run_at - ${past} WHERE paused_at IS NULL`)
    await belfry.execute(`UPDATE dispatchers SET seen_at = seen_at - ${past}`)
    await belfry.execute(`UPDATE dispatching SET seen_at = seen_at - ${past}, ended_at = ended_at - ${past}`)
  }

  /** Returns the occurrences of a cron job up to a time, the earliest first. */
  const occurrencesOf = async (job: string, to: number): Promise<Occurrence[]> => {
    const text = `SELECT id, coalesce(state_reason, state::text) AS state, occurrence_at AS at FROM tasks
                  WHERE cron_job_id = $1 AND occurrence_at <= $2 ORDER BY occurrence_at`
    return (await belfry.execute(text, [fromId('cron', job), new Date(to)])) as Occurrence[]
  }

  const isOver = ({ state }: Occurrence) => !['pending', 'processing', 'retrying'].includes(state)

  it.each([
    [1, 'SIGKILL'],
    [4, 'SIGTERM'],
    [10, 'SIGKILL'],
    [180, 'SIGTERM'],
  ] as const)(
    'after %s minutes catches up as each cron job says (%s)',
    async (minutes, signal) => {
      // The processes then start within the same minute, and the last occurrence is more than ten seconds old.
      await waitFor(
        async () => new Date().getSeconds(),
        second => second >= 13 && second <= 28,
        61_000,
      )
      const minute = Math.floor(Date.now() / minuteMs) * minuteMs
      const next = new Date(minute + minuteMs)
      const daily = `${next.getUTCMinutes()} ${next.getUTCHours()} * * *`
      const running = belfry.services.filter(({ name }) => name !== 'api').splice(-2)
      const plans: Array<[string, Record<string, unknown>, string[]]> = [
        ['none', { cron: minutely, catch_up: 'none' }, []],
        ['latest', { cron: minutely, catch_up: 'latest' }, ['success']],
        ['all', { cron: minutely, catch_up: 'all' }, Array(Math.min(minutes, 100)).fill('success')],
        ['skip', { cron: minutely, catch_up: 'latest', overlap: 'skip' }, ['success']],
        // The scheduler may end an occurrence at its deadline before the dispatcher finds that it was missed.
        ['max-age', { cron: minutely, catch_up: 'latest', max_age_ms: 5_000 }, Array(minutes).fill('expired')],
        ['daily-none', { cron: daily, catch_up: 'none' }, []],
        ['daily-latest', { cron: daily, catch_up: 'latest' }, ['success']],
        ['daily-all', { cron: daily, catch_up: 'all' }, ['success']],
      ]
      const jobs = await Promise.all(
        plans.map(async ([name, fields, ran]) => {
          const path = `/${minutes}/${name}`
          const count = fields.cron === daily ? 1 : minutes
          return { path, count, ran, id: await create(path, fields) }
        }),
      )
      await Promise.all(running.map(service => service.stop(signal)))
      await age(minutes)
      await Promise.all((['scheduler', 'dispatcher'] as const).map(name => belfry.start(name)))
      for (const { path, count, ran, id } of jobs) {
        const found = await waitFor(
          () => occurrencesOf(id, minute),
          all => all.length === count && all.every(isOver),
          30_000,
        )
        const states = found.map(({ state }) => (path.endsWith('max-age') && state === 'missed' ? 'expired' : state))
        expect([path, states]).toEqual([path, [...Array(count - ran.length).fill('missed'), ...ran]])
        const called = target.requestsTo(path).map(({ rawHeaders }) => taskIn(rawHeaders))
        const succeeded = found.filter(({ state }) => state === 'success').map(({ id }) => id)
        const old = new Set(found.map(({ id }) => id))
        expect(called.filter(task => old.has(task)).sort()).toEqual(succeeded.sort())
      }
      await Promise.all(jobs.map(({ id }) => belfry.call('POST', `${cronJobs}/${id}/pause`)))
    },
    180_000,
  )

  it('catches up as each cron job says after a freeze of all processes', async () => {
    await waitFor(
      async () => new Date().getSeconds(),
      second => second >= 13 && second <= 28,
      61_000,
    )
    const minute = Math.floor(Date.now() / minuteMs) * minuteMs
    const plans = [
      ['none', []],
      ['latest', ['success']],
      ['all', Array(4).fill('success')],
    ] as const
    const jobs = await Promise.all(
      plans.map(async ([catchUp, ran]) => {
        const id = await create(`/frozen/${catchUp}`, { cron: minutely, catch_up: catchUp })
        return { id, path: `/frozen/${catchUp}`, ran }
      }),
    )
    const frozen = belfry.services.filter(service => service.name !== 'api' && service.isRunning())
    for (const { pid } of frozen) process.kill(pid, 'SIGSTOP')
    await waitFor(
      () => belfry.execute(`SELECT id FROM dispatchers WHERE seen_at > clock_timestamp() - interval '11 seconds'`),
      live => live.length === 0,
      60_000,
    )
    await age(4)
    for (const { pid } of frozen) process.kill(pid, 'SIGCONT')
    for (const { id, path, ran } of jobs) {
      const found = await waitFor(
        () => occurrencesOf(id, minute),
        all => all.length >= 4 && all.every(isOver),
        30_000,
      )
      const states = found.map(({ state }) => state)
      expect([path, states]).toEqual([path, [...Array(4 - ran.length).fill('missed'), ...ran]])
    }
    await Promise.all(jobs.map(({ id }) => belfry.call('POST', `${cronJobs}/${id}/pause`)))
  }, 180_000)
})

function taskIn(rawHeaders: readonly string[]): string {
  return fromId('task', rawHeaders[rawHeaders.indexOf('X-Belfry-Task-Id') + 1] ?? '') ?? ''
}
