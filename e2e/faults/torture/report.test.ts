import { describe, expect, it } from 'vitest'
import { due, goodHistory, ran } from '../check/good-history.ts'
import { lostCode } from '../check/history.ts'
import { planTorture } from './plan.ts'
import { describeReport, latenessBySituation, type Reported } from './report.ts'
import type { Struck } from './strike.ts'

const freeze: Struck = { fault: { at: 0, does: 'freeze', process: 'api', forMs: 2_000 }, from: 0, until: 2_000 }
const flush: Struck = { fault: { at: 0, does: 'flush Redis', forMs: 0 }, from: 0, until: 1 }

function reported(more: Partial<Reported> = {}): Reported {
  const history = goodHistory()
  return {
    ...{ plan: planTorture(1, 0.5), struck: [flush, freeze], calledAt: [5_000, 5_000, 6_000], history },
    verdict: { violations: [], tasks: 2, hits: 3, repeats: 0, latenessMs: 10 },
    ...{ statuses: { 201: 2, broken: 1 }, postgres: '18.4', redis: '7.0', notes: [], complaints: [] },
    ...{ beganAt: new Date(0), command: 'npm run torture -- --seed 1 --minutes 0.5', version: '0.2.0' },
    ...more,
  }
}

describe('latenessBySituation', () => {
  it('counts the first call of each task, under the most severe fault that it met', () => {
    expect(latenessBySituation(reported())).toEqual([
      ['a process was dead, frozen or cut off', '2', '0.0 s', '0.0 s', '0.0 s'],
    ])
    expect(latenessBySituation(reported({ struck: [flush] }))[0]?.[0]).toBe('Redis lost data or was away')
  })

  it('has no fault for a call that came long after the last one, and a late call met what happened while it waited', () => {
    const calledAt = [40_000, 40_000, 41_000]
    expect(latenessBySituation(reported({ calledAt }))[0]?.[0]).toBe('no fault')
    const history = goodHistory()
    for (const hit of history.hits.filter(({ taskId }) => taskId === 'a')) hit.at = due + 30_000
    expect(latenessBySituation(reported({ calledAt, history })).map(([situation]) => situation)).toEqual([
      ...['no fault', 'a process was dead, frozen or cut off'],
    ])
  })
})

describe('describeReport', () => {
  it('is one page without other files: the promise, each fault, the verdict, and the command', () => {
    const page = describeReport(reported())
    for (const text of ['Every promise held', 'freeze api, for 2.0 s', 'flush Redis', '--seed 1 --minutes 0.5'])
      expect(page).toContain(text)
    expect(page).not.toMatch(/src=|href=|url\(|@import/)
  })

  it('shows complaints as text', () => {
    const page = describeReport(reported({ complaints: ['I5: <b> was lost'] }))
    expect(page).toContain('1 complaint')
    expect(page).toContain('I5: &lt;b> was lost')
    expect(page).not.toContain('Every promise held')
  })

  it('counts lost attempts once, for the first fault that was charged with them', () => {
    const history = goodHistory()
    history.runs.push({ ...ran('a', 2, due + 20), errorCode: lostCode })
    history.charges = [
      { cause: 'dispatcher 17 ended with SIGKILL', runIds: ['a2', 'b1'] },
      { cause: 'dispatcher 18 ended with SIGKILL', runIds: ['a2'] },
    ]
    const row = ['dispatcher ended with SIGKILL', '3', '1', '0'].map(cell => `<td>${cell}</td>`).join('')
    expect(describeReport(reported({ history }))).toContain(row)
  })
})
