import { expect, it } from 'vitest'
import { due, findings, taskOf } from './good-history.ts'
import type { Calm, History } from './history.ts'

const calm: Calm = { disturbed: [], slackMs: 5, concurrency: null, rate: null }

/** Lets a and b be called 10 ms after they are due, for 10 ms, with these limits. */
const within = (limits: Partial<Calm>, doctor: (history: History) => void = () => {}) => {
  return (history: History) => {
    history.calm = { ...calm, ...limits }
    doctor(history)
  }
}
const fault = [{ from: due, until: due + 5_000 }]

it('finds more calls of a host at once than it may get, unless a fault disturbs', () => {
  expect(findings(within({ concurrency: 2 }))).toEqual([])
  expect(findings(within({ concurrency: 1 }))).toEqual(['I18 a', 'I18 b'])
  expect(findings(within({ concurrency: 1, disturbed: fault }))).toEqual([])
})

it('finds more calls of a host in a second', () => {
  expect(findings(within({ rate: 2 }))).toEqual([])
  expect(findings(within({ rate: 1 }))).toEqual(['I18 b'])
  expect(findings(within({ rate: 1, disturbed: fault }))).toEqual([])
})

it('finds calls of a queue that come faster than their claims', () => {
  const queued = (history: History) => {
    const limits = { maxConcurrent: null, rateCount: 1, ratePeriodMs: 500, ordered: false, pauses: [] }
    history.queues.push({ id: 'q', name: 'queue', ...limits })
    taskOf(history, 'a').queueId = taskOf(history, 'b').queueId = 'q'
    // The claims keep the rate.
    for (const [i, runId] of ['a1', 'b1', 'b2'].entries()) {
      const claimed = `${(1_000 + i * 1_000).toString(16).padStart(12, '0')}-${runId}`
      for (const hit of history.hits) if (hit.runId === runId) hit.runId = claimed
      for (const run of history.runs) if (run.id === runId) run.id = claimed
      for (const move of history.moves) if (move.runId === runId) move.runId = claimed
    }
  }
  expect(findings(within({}, queued))).toEqual(['I18 b'])
  expect(findings(within({ disturbed: fault }, queued))).toEqual([])
  expect(findings(queued)).toEqual([])
})

it('finds a call after its deadline, though its claim was before it', () => {
  const expire = (ms: number) => (history: History) => (taskOf(history, 'b').expiresAt = due + ms)
  expect(findings(within({}, expire(1_000)))).toEqual(['I18 b'])
  expect(findings(within({}, expire(1_006)))).toEqual([])
})
