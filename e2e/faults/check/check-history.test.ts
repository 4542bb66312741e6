import { expect, it } from 'vitest'
import { checkHistory } from './check-history.ts'
import { due, findings, goodHistory, moves, ran, setMoves, stored, taskOf } from './good-history.ts'
import { formatHistory, type History } from './history.ts'

it('finds nothing in a good history', () => {
  expect(checkHistory(goodHistory())).toEqual({ violations: [], tasks: 2, hits: 3, repeats: 0, latenessMs: 10 })
})

it('finds an accepted task that is not stored, or stored with another time', () => {
  const accept = (history: History) =>
    history.accepted.push({ id: 'c', answeredAt: due, executeAt: [due], paths: ['/c'] })
  expect(findings(accept)).toEqual(['I1 c'])
  expect(findings(history => (history.accepted[0]!.executeAt = [due + 1]))).toEqual(['I1 a'])
  expect(findings(history => history.accepted[0]!.executeAt.push(due + 1))).toEqual([])
})

it('allows a failover to lose only tasks and outcomes of its window', () => {
  const lose = (history: History) => {
    history.accepted.push({ id: 'c', answeredAt: due, executeAt: [due], paths: ['/c'] })
    history.hits.push({ taskId: 'c', runId: 'c1', attempt: 1, path: '/c', at: due, until: due + 10, answered: 200 })
  }
  expect(findings(lose)).toEqual(['I1 c', 'I4 c'])
  expect(findings(lose, { lostCommits: { from: due - 10, until: due + 10 } })).toEqual([])
  expect(findings(lose, { lostCommits: { from: due + 1, until: due + 10 } })).toEqual(['I1 c', 'I4 c'])
})

it('finds a task that is past due and not finished, whether or not its 201 arrived', () => {
  const forget = (history: History) => {
    history.tasks.push(stored('c', 'pending', 0))
    history.moves.push(...moves('c', ['pending']))
  }
  expect(findings(forget)).toEqual(['I2 c'])
})

it('allows a task to wait for its time', () => {
  const wait = (history: History) => {
    history.tasks.push({ ...stored('c', 'pending', 0), dueAt: history.now + 1 })
    history.moves.push(...moves('c', ['pending']))
  }
  expect(findings(wait)).toEqual([])
})

it('finds an attempt without an end', () => {
  const hang = (history: History) => {
    Object.assign(taskOf(history, 'a'), { state: 'processing', dueAt: history.now })
    setMoves(history, 'a', ['pending', 'processing'])
    history.runs.shift()
  }
  expect(findings(hang)).toEqual(['I2 a', 'I4 a'])
})

it('finds a success without an answer of the target', () => {
  expect(findings(history => history.hits.shift())).toEqual(['I3 a'])
  expect(findings(history => (history.hits[0]!.answered = null))).toEqual(['I3 a'])
})

it('finds a call without its run, before its start, with another attempt number, or with another answer', () => {
  expect(findings(history => (history.hits[1]!.runId = 'other'))).toEqual(['I4 b'])
  expect(findings(history => (history.runs[1]!.startedAt = due + 16))).toEqual(['I4 b'])
  expect(findings(history => (history.runs[1]!.startedAt = due + 14))).toEqual([])
  expect(findings(history => (history.hits[1]!.attempt = 3))).toEqual(['I4 b'])
  expect(findings(history => (history.runs[1]!.responseStatus = 503))).toEqual(['I4 b'])
  expect(findings(history => history.hits.push({ ...history.hits[0]!, taskId: 'stranger' }))).toEqual(['I4 stranger'])
})

it('finds an attempt that was sent twice', () => {
  expect(findings(history => history.hits.push({ ...history.hits[1]!, at: due + 30 }))).toEqual(['I5 b'])
})

it('finds a lost attempt without a charged fault, sent or not', () => {
  const lose = (history: History) => Object.assign(history.runs[1]!, { responseStatus: null, errorCode: 'worker_lost' })
  const loseUnsent = (history: History) => {
    lose(history)
    history.hits.splice(1, 1)
  }
  for (const doctor of [lose, loseUnsent]) {
    const charged = (runIds: string[]) => (history: History) => {
      doctor(history)
      history.charges.push({ cause: 'a kill', runIds })
    }
    expect(findings(doctor)).toEqual(['I5 b'])
    expect(findings(charged(['b2', 'a1']))).toEqual(['I5 b'])
    expect(findings(charged(['b1']))).toEqual([])
    expect(findings(doctor, { poison: ['b'] })).toEqual([])
    expect(findings(doctor, { poison: ['a'] })).toEqual(['I5 b'])
  }
})

it('finds one spurious duplicate among hundreds of charged attempts', () => {
  const history = goodHistory()
  const lost = Array.from({ length: 400 }, (_, i) => `t${i}`)
  for (const id of lost) {
    history.tasks.push(stored(id, 'success', 2))
    history.moves.push(...moves(id, ['pending', 'processing', 'retrying', 'processing', 'success']))
    history.runs.push({ ...ran(id, 1, due), errorCode: 'worker_lost' })
    history.runs.push({ ...ran(id, 2, due + 50), status: 'success', responseStatus: 200 })
    const hit = { taskId: id, path: `/${id}`, at: due + 60, until: due + 70, answered: 200 }
    history.hits.push({ ...hit, runId: `${id}1`, attempt: 1 }, { ...hit, runId: `${id}2`, attempt: 2 })
  }
  history.charges.push({ cause: 'a kill', runIds: lost.slice(1).map(id => `${id}1`) })
  const { violations, repeats } = checkHistory(history)
  expect(repeats).toBe(400)
  expect(violations.map(({ invariant, taskId }) => `${invariant} ${taskId}`)).toEqual(['I5 t0'])
})

it('finds a call before its time, and tolerates 5 ms', () => {
  expect(findings(history => Object.assign(history.hits[0]!, { at: due - 4 }))).toEqual([])
  const early = (history: History) => {
    history.hits[0]!.at = due - 6
    history.runs[0]!.startedAt = due - 10
  }
  expect(findings(early)).toEqual(['I6 a'])
  expect(findings(history => (history.runs[2]!.scheduledAt += 16))).toEqual(['I6 b'])
})

it('finds a cancelled task that was called, and a task that was not cancelled after its DELETE', () => {
  expect(findings(history => history.cancelled.push('a'))).toEqual(['I7 a', 'I7 a'])
  const cancel = (history: History) => {
    history.cancelled.push('a')
    Object.assign(taskOf(history, 'a'), { state: 'cancelled', stateReason: 'user', attempts: 0 })
    setMoves(history, 'a', ['pending', 'cancelled'])
    history.hits.shift()
    history.runs.shift()
  }
  expect(findings(cancel)).toEqual([])
})

/** Ends the second task after its first attempt, without another one. */
function endEarly(history: History, reason: string, expiresAt: number | null): void {
  Object.assign(taskOf(history, 'b'), { state: 'dead', stateReason: reason, attempts: 1, expiresAt })
  setMoves(history, 'b', ['pending', 'processing', 'retrying', 'dead'])
  history.hits.pop()
  history.runs.pop()
}

it('allows a task to end at its deadline or by a stop, before its retries are used up', () => {
  expect(findings(history => endEarly(history, 'stopped', null))).toEqual([])
  expect(findings(history => endEarly(history, 'expired', due))).toEqual([])
  const unstarted = (history: History) => {
    Object.assign(taskOf(history, 'a'), { state: 'dead', stateReason: 'expired', attempts: 0, expiresAt: due })
    setMoves(history, 'a', ['pending', 'dead'])
    history.hits.shift()
    history.runs.shift()
  }
  expect(findings(unstarted)).toEqual([])
})

it('finds a task that expired early or was stopped while pending, and a claim after the deadline', () => {
  expect(findings(history => endEarly(history, 'expired', due + 60_000))).toEqual(['I8 b'])
  expect(findings(history => endEarly(history, 'user', null))).toEqual(['I9 b', 'I8 b'])
  const stopPending = (history: History) => {
    Object.assign(taskOf(history, 'a'), { state: 'dead', stateReason: 'stopped', attempts: 0 })
    setMoves(history, 'a', ['pending', 'dead'])
    history.hits.shift()
    history.runs.shift()
  }
  expect(findings(stopPending)).toEqual(['I8 a'])
  const late = (claimedAt: number) => (history: History) => {
    const id = claimedAt.toString(16).padStart(12, '0')
    taskOf(history, 'a').expiresAt = due + 5
    history.hits[0]!.runId = history.runs[0]!.id = id
    for (const move of history.moves) if (move.runId === 'a1') move.runId = id
  }
  expect(findings(late(due + 4))).toEqual([])
  expect(findings(late(due + 5))).toEqual(['I6 a'])
})

it('finds a call of the old target after the answer to a PATCH', () => {
  expect(findings(history => (history.accepted[0]!.paths = ['/new']))).toEqual(['I13 a'])
  expect(findings(history => (history.accepted[0]!.paths = ['/a', '/new']))).toEqual([])
})

it('finds a success that was followed by another attempt', () => {
  expect(findings(history => Object.assign(history.runs[1]!, { status: 'success' }))).toEqual(['I8 b'])
})

it('finds gaps between attempts, too many attempts, and a death before the last retry', () => {
  expect(findings(history => (history.runs[2]!.attempt = 3))).toEqual(['I4 b', 'I9 b'])
  expect(findings(history => (taskOf(history, 'b').maxRetries = 0))).toEqual(['I9 b'])
  expect(findings(giveUp)).toEqual(['I9 b'])
})

it('allows an attempt more for a failure of Belfry', () => {
  const fail = (history: History) => {
    taskOf(history, 'b').maxRetries = 0
    Object.assign(history.runs[1]!, { responseStatus: null, errorCode: 'stale_connection' })
  }
  expect(findings(fail)).toEqual([])
})

function giveUp(history: History): void {
  taskOf(history, 'b').state = 'dead'
  history.moves.at(-1)!.to = 'dead'
  Object.assign(history.runs[2]!, { status: 'failed', errorCode: 'timeout', responseStatus: null })
}

it('finds a death for which a lost attempt was counted as a retry', () => {
  const lose = (history: History) => {
    giveUp(history)
    taskOf(history, 'b').maxRetries = 1
    Object.assign(history.runs[1]!, { responseStatus: null, errorCode: 'worker_lost' })
    history.charges.push({ cause: 'a kill', runIds: ['b1'] })
  }
  expect(findings(lose)).toEqual(['I9 b'])
})

it('finds a death by losses outside the quarantine', () => {
  const poison = (quarantined: number) => (history: History) => {
    const states = ['pending', ...Array.from({ length: 3 }, () => ['processing', 'retrying']).flat()]
    setMoves(history, 'a', [...states.slice(0, -1), 'dead'])
    for (const [i, move] of history.moves.filter(({ taskId }) => taskId === 'a').entries())
      move.wasQuarantined = i > 6 - 2 * quarantined
    Object.assign(taskOf(history, 'a'), { state: 'dead', attempts: 3 })
    const lost = [1, 2, 3].map(attempt => ({ ...ran('a', attempt, due), errorCode: 'worker_lost' }))
    history.runs = [...lost, ...history.runs.slice(1)]
    history.tasks[0]!.maxRetries = 5
  }
  expect(findings(poison(2), { poison: ['a'] })).toEqual([])
  expect(findings(poison(1), { poison: ['a'] })).toEqual(['I9 a'])
})

it('finds a first call later than the row allows', () => {
  expect(findings(() => {}, { latenessMs: 9 })).toEqual(['lateness a', 'lateness b'])
  expect(findings(() => {}, { latenessMs: 10 })).toEqual([])
})

it('writes the whole history of a task', () => {
  expect(formatHistory(goodHistory(), 'b').split('\n')).toHaveLength(13)
  expect(formatHistory(goodHistory(), 'b')).toContain('target called: attempt 2, run b2, answered 200')
})
