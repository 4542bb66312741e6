import { setTimeout as sleep } from 'node:timers/promises'
import { type Receiver, startReceiver } from '@belfry/test-support'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type FakedBelfry, libfaketime, startFakedBelfry } from './faked-belfry.ts'

const timezone = 'Europe/Berlin'

describe.runIf(libfaketime)('cron jobs in Berlin', () => {
  let belfry: FakedBelfry
  let target: Receiver
  beforeEach(async () => {
    target = await startReceiver()
  })
  afterEach(async () => {
    await belfry?.close()
    await target?.close()
  })

  const create = async (path: string, cron: string, more: Record<string, unknown> = {}) => {
    const body = { name: path, url: target.url(path), method: 'POST', cron, timezone, ...more }
    const created = await belfry.call('POST', '/api/v1/scheduler/cronjobs', body)
    expect(created.status).toBe(201)
    return created.body
  }
  const until = (instant: string) => sleep(Date.parse(instant) - belfry.now())
  const callsTo = (path: string) =>
    target.requestsTo(path).map(({ rawHeaders }) => rawHeaders[rawHeaders.indexOf('X-Belfry-Scheduled-At') + 1])

  it('fire in spring at the end of the gap, once', async () => {
    belfry = await startFakedBelfry('2027-03-28T00:58:20Z') // 01:58:20; at 02:00 it becomes 03:00
    const fixed = await create('/fixed', '30 2 * * *')
    expect(fixed).toMatchObject({
      next_run_at: '2027-03-28T01:00:00.000Z',
      notes: [{ at: '2027-03-28T01:00:00.000Z', local: '2027-03-28T02:30', code: 'clock_gap' }],
    })
    await create('/twice', '0,45 2 * * *')
    await create('/interval', '*/30 2 * * *')
    await create('/minutes', '* * * * *')
    await until('2027-03-28T01:02:05Z')
    expect(callsTo('/fixed')).toEqual(['2027-03-28T01:00:00.000Z'])
    expect(callsTo('/twice')).toEqual(['2027-03-28T01:00:00.000Z'])
    expect(callsTo('/interval')).toEqual([])
    const minutes = ['00:59', '01:00', '01:01', '01:02']
    expect(callsTo('/minutes')).toEqual(minutes.map(time => `2027-03-28T${time}:00.000Z`))
  })

  it('fire in autumn only in the first of the two hours, even after a restart in the second', async () => {
    belfry = await startFakedBelfry('2027-10-31T00:29:15Z') // 02:29:15 in summer time, the first
    const fixed = await create('/fixed', '30 2 * * *')
    expect(fixed.notes).toMatchObject([{ local: '2027-10-31T02:30', code: 'clock_overlap' }])
    const interval = await create('/interval', '*/30 * * * *', { catch_up: 'none' })
    await until('2027-10-31T00:30:05Z')
    expect(callsTo('/fixed')).toEqual(['2027-10-31T00:30:00.000Z'])
    expect(callsTo('/interval')).toEqual(['2027-10-31T00:30:00.000Z'])
    await belfry.restartAt('2027-10-31T00:58:30Z') // 02:58:30, still the first
    await until('2027-10-31T01:00:05Z')
    await belfry.restartAt('2027-10-31T01:29:00Z') // 02:29, the second
    const { body } = await belfry.call('GET', `/api/v1/scheduler/cronjobs/${fixed.id}`)
    expect(body.next_run_at).toBe('2027-11-01T01:30:00.000Z')
    await until('2027-10-31T01:31:05Z')
    expect(callsTo('/fixed')).toEqual(['2027-10-31T00:30:00.000Z'])
    const times = ['00:30', '01:00', '01:30']
    expect(callsTo('/interval')).toEqual(times.map(time => `2027-10-31T${time}:00.000Z`))
    const { body: tasks } = await belfry.call('GET', `/api/v1/scheduler/tasks?cronjob_id=${interval.id}`)
    expect(tasks.data.map(({ state }: { state: string }) => state)).toEqual(['success', 'success', 'success'])
  })
})
