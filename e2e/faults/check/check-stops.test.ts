import { expect, it } from 'vitest'
import { due, findings, moves, setMoves, stored, taskOf } from './good-history.ts'
import type { History } from './history.ts'

const secondMs = 1_000

/** Ends the second task by a stop after its first attempt, which was lost and whose call arrives at a time. */
const stop = (calledAt: number) => (history: History) => {
  Object.assign(taskOf(history, 'b'), { state: 'dead', stateReason: 'stopped', attempts: 1 })
  setMoves(history, 'b', ['pending', 'processing', 'retrying', 'dead'])
  history.stopped.push('b')
  history.hits.pop()
  history.hits[1]!.at = calledAt
  history.runs.pop()
  Object.assign(history.runs[1]!, { errorCode: 'worker_lost', responseStatus: null })
  history.charges.push({ cause: 'a kill', runIds: ['b1'] })
}

it('finds a call after its task was stopped, and after any other end', () => {
  const stoppedAt = due + 3 + 2 * secondMs
  expect(findings(stop(stoppedAt))).toEqual([])
  expect(findings(stop(stoppedAt + secondMs))).toEqual(['I7 b'])
  // A busy target reads a call late whose outcome is recorded.
  const calledLate = (seconds: number) => (history: History) => (history.hits[0]!.at = due + seconds * secondMs)
  expect(findings(calledLate(3))).toEqual([])
  expect(findings(calledLate(15))).toEqual(['I7 a'])
})

it('compares no times across a step of the clock', () => {
  const stepBack = (history: History) => {
    for (const move of history.moves) if (move.taskId === 'a' && move.to === 'success') move.at = due - 90 * secondMs
  }
  expect(findings(stepBack)).toEqual([])
})

it('finds a claim after the deletion of its workspace, and a call long after its suspension or deletion', () => {
  const stopWorkspace = (kind: 'suspension' | 'deletion', fromMs: number, until = Number.POSITIVE_INFINITY) => {
    return (history: History) => history.workspaceStops.push({ workspaceId: 'w', kind, from: due - fromMs, until })
  }
  expect(findings(stopWorkspace('deletion', 0))).toEqual([])
  expect(findings(stopWorkspace('deletion', 10))).toEqual(['I7 a', 'I7 b'])
  expect(findings(stopWorkspace('suspension', 10 * secondMs))).toEqual([])
  expect(findings(stopWorkspace('suspension', 13 * secondMs))).toEqual(['I7 a', 'I7 b'])
  expect(findings(stopWorkspace('suspension', 13 * secondMs, due))).toEqual([])
})

it('allows a deletion of a workspace to cancel its retrying tasks', () => {
  const cancel = (reason: string) => (history: History) => {
    stop(due + 10)(history)
    history.stopped = []
    Object.assign(taskOf(history, 'b'), { state: 'cancelled', stateReason: reason })
    setMoves(history, 'b', ['pending', 'processing', 'retrying', 'cancelled'])
  }
  expect(findings(cancel('workspace_deleted'))).toEqual([])
  expect(findings(cancel('user'))).toEqual(['I8 b'])
})

it('finds a held task that starts or expires', () => {
  const hold = (held: number) => (history: History) => {
    history.moves.filter(({ taskId }) => taskId === 'b')[held]!.wasHeld = true
  }
  expect(findings(hold(1))).toEqual(['I8 b'])
  const cancelled = (history: History) => {
    history.tasks.push({ ...stored('c', 'cancelled', 0), stateReason: 'user' })
    history.moves.push(...moves('c', ['pending', 'cancelled']))
    history.moves.at(-1)!.wasHeld = true
  }
  expect(findings(cancelled)).toEqual([])
})

it('finds an installation that works while it has nothing to do', () => {
  expect(findings(history => (history.commitsPerSecond = 500))).toEqual(['I17 null'])
  expect(findings(history => (history.commitsPerSecond = null))).toEqual([])
})

it('finds a first call later than a minute, unless its row allows that or its task was made late', () => {
  const late = (history: History) => {
    taskOf(history, 'a').executeAt -= 61 * secondMs
    history.accepted[0]!.executeAt = [taskOf(history, 'a').executeAt]
  }
  expect(findings(late)).toEqual([])
  const madeEarly = (history: History) => {
    late(history)
    taskOf(history, 'a').createdAt -= 61 * secondMs
  }
  expect(findings(madeEarly)).toEqual(['lateness a'])
  expect(findings(madeEarly, { latenessMs: 62 * secondMs })).toEqual([])
})
