import { expect, it } from 'vitest'
import { findings, moves, ran, stored, taskOf } from './good-history.ts'
import type { History } from './history.ts'

const all = ['on_success', 'on_failure', 'on_attempt']

/** Gives task `b`, which succeeds at the second attempt, its callbacks. */
function withCallbacks(events: readonly string[]): (history: History) => void {
  return history => {
    taskOf(history, 'b').callbacks = all
    for (const [i, event] of events.entries()) {
      const id = `c${i}`
      history.tasks.push({ ...stored(id, 'success', 1), name: `${event} of /b`, callbackOf: 'b' })
      history.hits.push({ ...history.hits[0]!, taskId: id, runId: `${id}1` })
      history.runs.push({ ...ran(id, 1, history.hits[0]!.at - 10), status: 'success', responseStatus: 200 })
      history.moves.push(...moves(id, ['pending', 'processing', 'success']))
    }
  }
}

it('allows one callback for each outcome', () => {
  expect(findings(withCallbacks(['on_attempt', 'on_attempt', 'on_success']))).toEqual([])
})

it.each([
  ['a lost callback', ['on_attempt', 'on_attempt']],
  ['a doubled callback', ['on_attempt', 'on_attempt', 'on_success', 'on_success']],
  ['a missing attempt', ['on_attempt', 'on_success']],
  ['a wrong outcome', ['on_attempt', 'on_attempt', 'on_success', 'on_failure']],
])('finds %s', (_, events) => {
  expect(findings(withCallbacks(events))).toEqual(['I14 b'])
})

it('finds a callback of a callback', () => {
  const doctor = (history: History) => {
    withCallbacks(['on_attempt', 'on_attempt', 'on_success'])(history)
    history.tasks.push({ ...taskOf(history, 'c2'), id: 'a', callbackOf: 'c2' })
  }
  expect(findings(doctor)).toContain('I14 c2')
})
