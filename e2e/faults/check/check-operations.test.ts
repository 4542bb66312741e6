import { expect, it } from 'vitest'
import { due, findings, moves, setMoves, stored, taskOf } from './good-history.ts'
import type { History, StoredOperation } from './history.ts'

const operation = (changes: Partial<StoredOperation>): StoredOperation => ({
  ...{ id: 'o1', workspaceId: 'w', action: 'cancel', isWhole: true, done: 0 },
  ...{ createdAt: due + 1_500, finishedAt: due + 2_500, ...changes },
})

/** Stores tasks that an operation cancelled. */
const cancel = (...ids: string[]) => {
  return (history: History) => {
    for (const id of ids) {
      history.tasks.push({ ...stored(id, 'cancelled', 0), stateReason: 'user' })
      history.moves.push(...moves(id, ['pending', 'cancelled']))
    }
  }
}

it('allows an operation that has cancelled what it says, beside tasks that were cancelled alone', () => {
  const all = (done: number) => (history: History) => {
    cancel('c', 'd', 'alone')(history)
    history.cancelled.push('alone')
    history.operations.push(operation({ done }))
  }
  expect(findings(all(2))).toEqual([])
  expect(findings(all(3))).toEqual(['I16 null'])
})

it('does not know who has cancelled a task whose DELETE had no answer', () => {
  const all = (done: number) => (history: History) => {
    cancel('c', 'd', 'unclear')(history)
    history.unclear.push('unclear')
    history.operations.push(operation({ done }))
  }
  expect([1, 2, 3, 4].map(done => findings(all(done)))).toEqual([['I16 null'], [], [], ['I16 null']])
})

it('allows an operation that has stopped what it says', () => {
  const stop = (done: number) => (history: History) => {
    Object.assign(taskOf(history, 'b'), { state: 'dead', stateReason: 'stopped', attempts: 1 })
    setMoves(history, 'b', ['pending', 'processing', 'retrying', 'dead'])
    history.hits.pop()
    history.runs.pop()
    history.operations.push(operation({ action: 'stop', done }))
  }
  expect(findings(stop(1))).toEqual([])
  expect(findings(stop(0))).toEqual(['I16 null'])
})

it('finds an operation that has not ended', () => {
  expect(findings(history => history.operations.push(operation({ finishedAt: null })))).toEqual(['I16 null'])
})

it('finds a task that waited through an operation for all and was called', () => {
  const leaveOut = (isWhole: boolean, createdAt: number) => (history: History) => {
    for (const move of history.moves) if (move.from === null) move.at = due - 100
    history.operations.push(operation({ isWhole, createdAt, finishedAt: due - 10 }))
  }
  expect(findings(leaveOut(true, due - 50))).toEqual(['I16 a', 'I16 b'])
  expect(findings(leaveOut(false, due - 50))).toEqual([])
  expect(findings(leaveOut(true, due - 150))).toEqual([]) // they were stored after its start
})

/** Gives an ordered queue two dead letters and their replays, of which the one with the lower id is in front. */
const replay = (originals: [string, string], done = 2) => {
  return (history: History) => {
    const limits = { maxConcurrent: null, rateCount: null, ratePeriodMs: null, pauses: [] }
    history.queues.push({ id: 'q', name: 'queue', ordered: true, ...limits })
    history.operations.push(operation({ action: 'replay', done }))
    for (const id of ['x', 'y']) {
      history.tasks.push({ ...stored(id, 'cancelled', 0), queueId: 'q', stateReason: 'user' })
      history.moves.push(...moves(id, ['pending', 'cancelled']))
    }
    for (const [i, replayOf] of originals.entries()) {
      const id = `z${i}`
      const made = { queueId: 'q', replayOf, createdAt: due + 2_000, executeAt: due + 2_000 }
      history.tasks.push({ ...stored(id, 'cancelled', 0), stateReason: 'user', ...made })
      history.moves.push(...moves(id, ['pending', 'cancelled']))
    }
  }
}

it('finds replays of an ordered queue in another order, and a wrong number of them', () => {
  expect(findings(replay(['x', 'y']))).toEqual([])
  expect(findings(replay(['y', 'x']))).toEqual(['I15 z1'])
  expect(findings(replay(['x', 'y'], 3))).toEqual(['I16 null'])
})

it('adds up replays of operations that follow each other at once', () => {
  const two = (done: number) => (history: History) => {
    replay(['x', 'y'], 1)(history)
    history.operations.push(
      operation({ id: 'o2', action: 'replay', done, createdAt: due + 3_000, finishedAt: due + 3_100 }),
    )
  }
  expect(findings(two(1))).toEqual([])
  expect(findings(two(2))).toEqual(['I16 null'])
})
