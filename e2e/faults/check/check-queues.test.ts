import { expect, it } from 'vitest'
import { due, findings, moves, ran, stored, taskOf } from './good-history.ts'
import type { History, Move, StoredQueue } from './history.ts'

const claimTime = 1_700_000_000_000

/** Returns a run's id that begins with the time of its claim. */
function runIdAt(at: number, task: string): string {
  return `${at.toString(16).padStart(12, '0')}-${task}`
}

/**
 * Gives the history a queue with three tasks that start one after another, 100 ms apart, and run for 50 ms.
 */
function withQueue(limits: Partial<StoredQueue>, doctor: (history: History) => void = () => {}) {
  return (history: History) => {
    const none = { maxConcurrent: null, rateCount: null, ratePeriodMs: null, ordered: false, pauses: [] }
    history.queues.push({ id: 'q', name: 'queue', ...none, ...limits })
    for (const [i, id] of ['x', 'y', 'z'].entries()) {
      const [at, runId] = [claimTime + i * 100, runIdAt(claimTime + i * 100, id)]
      history.tasks.push({ ...stored(id, 'success', 1), queueId: 'q', createdAt: at, executeAt: due + i })
      history.hits.push({ taskId: id, runId, attempt: 1, path: `/${id}`, at, until: at + 50, answered: 200 })
      history.runs.push({ ...ran(id, 1, at), id: runId, status: 'success', responseStatus: 200, scheduledAt: due })
      for (const move of moves(id, ['pending', 'processing', 'success'])) {
        const isNew = move.from === null
        history.moves.push({
          ...move,
          at: at + move.at - due,
          id: (isNew ? 10 : 20) + i * 5 + history.moves.length / 100,
          runId: isNew ? null : runId,
        })
      }
    }
    history.now = claimTime + 1_000
    doctor(history)
    history.moves.sort((one, other) => one.id - other.id)
  }
}

/** Puts the claim of a task before the end of the one in front of it. */
function overlap(history: History): void {
  const end = history.moves.find(({ taskId, to }) => taskId === 'x' && to === 'success')!
  const claim = history.moves.find(({ taskId, to }) => taskId === 'y' && to === 'processing')!
  ;[end.id, claim.id] = [claim.id, end.id]
}

const hitOf = (history: History, id: string) => history.hits.find(({ taskId }) => taskId === id)!

it('allows attempts within the limits of their queue', () => {
  expect(findings(withQueue({ maxConcurrent: 1 }))).toEqual([])
  expect(findings(withQueue({ ordered: true }))).toEqual([])
  expect(findings(withQueue({ rateCount: 1, ratePeriodMs: 100 }))).toEqual([])
  expect(findings(withQueue({ maxConcurrent: 2 }, overlap))).toEqual([])
})

it('finds more attempts in flight than max_concurrent', () => {
  expect(findings(withQueue({ maxConcurrent: 1 }, overlap))).toEqual(['I15 y'])
  expect(findings(withQueue({ ordered: true }, overlap))).toEqual(['I15 y', 'I15 y'])
})

it('finds more calls at once at the target, except lost ones', () => {
  const long = (history: History) => (hitOf(history, 'x').until = claimTime + 106)
  const open = (history: History) => (hitOf(history, 'x').until = null)
  expect(findings(withQueue({ maxConcurrent: 1 }, long))).toEqual(['I15 y'])
  expect(findings(withQueue({ maxConcurrent: 1 }, open))).toEqual(['I15 y', 'I15 z'])
  expect(findings(withQueue({ maxConcurrent: 1 }, history => (hitOf(history, 'x').until = claimTime + 104)))).toEqual(
    [],
  )
  const lose = (history: History) => {
    open(history)
    const { runId } = hitOf(history, 'x')
    Object.assign(history.runs.find(({ id }) => id === runId)!, { errorCode: 'worker_lost' })
    history.charges.push({ cause: 'a kill', runIds: [runId] })
  }
  expect(findings(withQueue({ maxConcurrent: 1 }, lose))).toEqual([])
})

it('finds a start beyond the rate limit', () => {
  expect(findings(withQueue({ rateCount: 1, ratePeriodMs: 101 }))).toEqual(['I15 y', 'I15 z'])
  expect(findings(withQueue({ rateCount: 2, ratePeriodMs: 200 }))).toEqual([])
  expect(findings(withQueue({ rateCount: 2, ratePeriodMs: 201 }))).toEqual(['I15 z'])
})

it('counts no start of a claim that was undone', () => {
  const undo = (history: History) => {
    const claim = history.moves.find(({ taskId, to }) => taskId === 'y' && to === 'processing')!
    const undone = { ...claim, from: 'processing', to: 'pending', attempts: 0, runId: null, id: claim.id + 0.001 }
    const again = { ...claim, from: 'pending', runId: runIdAt(claimTime + 900, 'y'), id: claim.id + 0.002 }
    history.moves.push(undone, again)
    for (const list of [history.runs, history.hits] as Array<Array<{ id?: string; runId?: string; taskId: string }>>)
      for (const one of list) if (one.taskId === 'y') one[one.runId === undefined ? 'id' : 'runId'] = again.runId
  }
  const ofY = (limits: Partial<StoredQueue>) => findings(withQueue(limits, undo)).filter(text => text.startsWith('I15'))
  expect(ofY({ rateCount: 1, ratePeriodMs: 150 })).toEqual([])
  expect(ofY({ rateCount: 1, ratePeriodMs: 250 })).toEqual(['I15 z'])
})

it('finds a start during a pause', () => {
  const pause = (from: number, until: number) =>
    withQueue({ pauses: [{ from: claimTime + from, until: claimTime + until }] })
  expect(findings(pause(90, 150))).toEqual(['I15 y'])
  expect(findings(pause(97, 103))).toEqual([])
  expect(findings(pause(110, Number.POSITIVE_INFINITY))).toEqual(['I15 z'])
})

it('finds a start while the task in front of it is not final', () => {
  const wait = (history: History) => {
    taskOf(history, 'x').executeAt = due + 1.5 // now behind y
  }
  expect(findings(withQueue({ maxConcurrent: 5 }, wait))).toEqual([])
  expect(findings(withQueue({ ordered: true }, wait))).toEqual(['I15 x', 'I15 x'])
  const late = (history: History) => {
    wait(history)
    for (const move of history.moves) if (move.taskId === 'y' && move.from === null) move.id = 22 // stored after the claim of x
  }
  // It started correctly and then succeeded out of order.
  expect(findings(withQueue({ ordered: true }, late))).toEqual(['I15 x'])
})

it('allows a start before a task in front of it whose transaction was not visible', () => {
  const hide = (seen: Partial<Move>) => (history: History) => {
    taskOf(history, 'x').executeAt = due + 1.5 // now behind y
    for (const move of history.moves) if (move.taskId === 'y') move.transaction = 7
    for (const move of history.moves) if (move.taskId === 'x') Object.assign(move, seen)
  }
  expect(findings(withQueue({ ordered: true }, hide({ seesBelow: 9 })))).toEqual(['I15 x', 'I15 x'])
  expect(findings(withQueue({ ordered: true }, hide({ seesBelow: 9, seesNot: [7] })))).toEqual([])
  expect(findings(withQueue({ ordered: true }, hide({ seesBelow: 7 })))).toEqual([])
})

it('finds a task that stays blocked', () => {
  const block = (history: History) => {
    const id = 'v'
    history.tasks.push({ ...stored(id, 'pending', 0), queueId: 'q', isBlocked: true })
    history.moves.push({ ...moves(id, ['pending'])[0]!, id: 60 })
  }
  expect(findings(withQueue({ maxConcurrent: 1 }, block))).toEqual(['I15 v'])
})

it('finds a call long after the answer to a pause, whose claim was before it', () => {
  const call = (afterMs: number) =>
    withQueue({ pauses: [{ from: claimTime + 50, until: claimTime + 60_000 }] }, history => {
      hitOf(history, 'x').at = hitOf(history, 'x').until = claimTime + 50 + afterMs
      for (const move of history.moves) if (move.to === 'success') move.at = claimTime + 30_000
      for (const id of ['y', 'z']) {
        history.tasks = history.tasks.filter(task => task.id !== id)
        for (const list of ['moves', 'runs', 'hits'] as const)
          history[list] = (history[list] as Array<{ taskId: string }>).filter(({ taskId }) => taskId !== id) as never
      }
    })
  expect(findings(call(11_000))).toEqual([])
  expect(findings(call(13_000))).toEqual(['I15 x'])
})
