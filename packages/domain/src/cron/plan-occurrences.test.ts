import { describe, expect, it } from 'vitest'
import { type CronSchedule, nextRuns } from './cron-schedule.ts'
import { parseCron } from './parse-cron.ts'
import { type CatchUp, planOccurrences } from './plan-occurrences.ts'

const day = '2026-11-21T'

function schedule(changes: Partial<CronSchedule> & { text?: string } = {}): CronSchedule {
  const parsed = parseCron(changes.text ?? '* * * * *')
  if (!parsed.ok) throw new Error(parsed.message)
  return { cron: parsed.cron, timezone: 'UTC', startsAt: null, endsAt: null, ...changes }
}

function at(time: string): Date {
  return new Date(`${day}${time}Z`)
}

function plan(catchUp: CatchUp, [next, now, until]: [string, string, string], rule = schedule()) {
  const planned = planOccurrences(rule, catchUp, { next: at(next), now: at(now), until: at(until) })
  const times = planned.occurrences.map(
    ({ at, missed }) => `${missed ? 'missed ' : ''}${at.toISOString().slice(11, 16)}`,
  )
  return [times, planned.next?.toISOString().slice(11, 16) ?? null]
}

describe('planOccurrences', () => {
  it('plans up to and including the end of the look-ahead', () => {
    expect(plan('none', ['12:01', '12:00:30', '12:03'])).toEqual([['12:01', '12:02', '12:03'], '12:04'])
    expect(plan('none', ['12:04', '12:00:30', '12:03'])).toEqual([[], '12:04'])
  })

  it('lets an occurrence be ten seconds late before it counts as missed', () => {
    expect(plan('none', ['12:00', '12:00:10', '12:00:10'])).toEqual([['12:00'], '12:01'])
    expect(plan('none', ['12:00', '12:00:10.001', '12:00:11'])).toEqual([['missed 12:00'], '12:01'])
  })

  it('lets an occurrence with a delay be late only after it', () => {
    const times = { next: at('12:00'), now: at('12:02:30'), until: at('12:02:30') }
    const { occurrences } = planOccurrences(schedule(), 'none', { ...times, delayMs: 90_000 })
    expect(occurrences.map(({ missed }) => missed)).toEqual([true, false, false])
  })

  it.each<[CatchUp, string[]]>([
    ['latest', ['missed 12:00', 'missed 12:01', '12:02', '12:03']],
    ['none', ['missed 12:00', 'missed 12:01', 'missed 12:02', '12:03']],
    ['all', ['12:00', '12:01', '12:02', '12:03']],
  ])('catches up on "%s" of the missed occurrences', (catchUp, times) => {
    expect(plan(catchUp, ['12:00', '12:02:30', '12:03'])).toEqual([times, '12:04'])
  })

  it.each<[CatchUp, number]>([
    ['latest', 1],
    ['none', 0],
    ['all', 100],
  ])('catches up on "%s" of a day in several plans as in one', (catchUp, kept) => {
    const now = new Date('2026-11-21T12:00:30Z')
    const occurrences: Array<{ at: Date; missed: boolean }> = []
    let next: Date | null = new Date('2026-11-19T12:00:00Z')
    let plans = 0
    while (next !== null && next <= now) {
      const planned = planOccurrences(schedule(), catchUp, { next, now, until: now })
      occurrences.push(...planned.occurrences)
      next = planned.next
      plans++
    }
    expect(plans).toBeGreaterThan(2)
    expect(occurrences.map(({ at }) => at.getTime() - (occurrences[0]?.at.getTime() ?? 0))).toEqual(
      Array.from({ length: 2881 }, (_, i) => i * 60_000),
    )
    expect(occurrences.filter(({ missed }) => !missed)).toEqual(kept === 0 ? [] : occurrences.slice(-kept))
  })

  it.each([1, 7, 150])('runs the same occurrences in plans of at most %i', max => {
    const now = at('12:00')
    const occurrences: Array<{ at: Date; missed: boolean }> = []
    for (let next: Date | null = at('09:00'); next !== null && next <= now; ) {
      const planned = planOccurrences(schedule(), 'all', { next, now, until: now, max })
      expect(planned.occurrences.length).toBeLessThanOrEqual(max)
      occurrences.push(...planned.occurrences)
      next = planned.next
    }
    expect(occurrences).toEqual(planOccurrences(schedule(), 'all', { next: at('09:00'), now, until: now }).occurrences)
    expect(occurrences).toHaveLength(181)
  })

  it('ends before ends_at, and starts with starts_at', () => {
    const rule = schedule({ endsAt: at('12:02'), startsAt: at('11:00') })
    expect(plan('all', ['12:00', '12:00', '12:05'], rule)).toEqual([['12:00', '12:01'], null])
    expect(nextRuns(rule, at('10:00').getTime(), 2).map(({ atMs }) => new Date(atMs))).toEqual([
      at('11:00'),
      at('11:01'),
    ])
    expect(nextRuns(rule, at('12:01').getTime(), 2)).toEqual([])
  })
})
