import { expect, it } from 'vitest'
import { checkHistory } from './check-history.ts'
import { due, goodHistory, moves, ran, stored } from './good-history.ts'
import type { CronOperation, History } from './history.ts'

const minute = 60_000
const start = 100 * minute

function operation(kind: CronOperation['kind'], at: number, more: Partial<CronOperation> = {}): CronOperation {
  const everyMs = kind === 'create' ? minute : null
  return { kind, sentAt: at, answeredAt: at + 100, status: 200, everyMs, ...more }
}

// A cron job that fires each minute from the third to the sixth minute, and is then paused.
function cronHistory(): History {
  const history = { ...goodHistory(), tasks: [], hits: [], runs: [], moves: [], accepted: [] } as History
  history.now = start + 20 * minute
  const operations = [operation('create', start + 2.5 * minute), operation('pause', start + 6.5 * minute)]
  history.cronJobs.push({ id: 'j', catchUp: 'all', operations })
  for (const i of [3, 4, 5, 6]) addOccurrence(history, `o${i}`, start + i * minute)
  addCancelled(history, 'o7', start + 7 * minute, 'cronjob_paused')
  return history
}

function addOccurrence(history: History, id: string, at: number): void {
  const times = { createdAt: start + 2.5 * minute + 50, executeAt: at, dueAt: at, isBlocked: false }
  history.tasks.push({ ...stored(id, 'success', 1), ...times, cronJobId: 'j', occurrenceAt: at })
  history.moves.push(
    ...moves(id, ['pending', 'processing', 'success']).map(move => ({ ...move, at: at + move.at - due })),
  )
  history.runs.push({ ...ran(id, 1, at), status: 'success', responseStatus: 200 })
  history.hits.push({
    taskId: id,
    runId: `${id}1`,
    attempt: 1,
    path: '/cron',
    at: at + 10,
    until: at + 20,
    answered: 200,
  })
}

function addCancelled(history: History, id: string, at: number, reason: string | null): void {
  const times = { createdAt: start + 2.5 * minute + 50, executeAt: at, dueAt: at, isBlocked: false }
  const task = { ...stored(id, 'cancelled', 0), stateReason: reason, ...times, cronJobId: 'j', occurrenceAt: at }
  history.tasks.push(task)
  history.moves.push(...moves(id, ['pending', 'cancelled']))
}

function remove(history: History, id: string): void {
  history.tasks = history.tasks.filter(task => task.id !== id)
  for (const list of ['moves', 'runs', 'hits'] as const)
    history[list] = (history[list] as Array<{ taskId: string }>).filter(({ taskId }) => taskId !== id) as never
}

function cronFindings(doctor: (history: History) => void): string[] {
  const history = cronHistory()
  doctor(history)
  return checkHistory(history).violations.map(({ invariant, taskId }) => `${invariant} ${taskId}`)
}

it('finds nothing when each occurrence has its task', () => {
  expect(cronFindings(() => {})).toEqual([])
})

it('finds an occurrence without a task, and a task that was cancelled without a reason', () => {
  expect(cronFindings(history => remove(history, 'o4'))).toEqual(['I11 null'])
  const cancel = (reason: string | null) => (history: History) => {
    remove(history, 'o4')
    addCancelled(history, 'o4', start + 4 * minute, reason)
  }
  expect(cronFindings(cancel('overlap_skipped'))).toEqual([])
  expect(cronFindings(cancel(null))).toEqual(['I11 o4'])
  expect(cronFindings(cancel('missed'))).toEqual(['I11 o4'])
  const missLongAgo = (history: History) => {
    cancel('missed')(history)
    history.tasks.at(-1)!.createdAt = start + 105 * minute
    history.cronJobs[0]!.operations.pop()
    history.now = start + 6.5 * minute
  }
  expect(cronFindings(missLongAgo)).toEqual([])
})

it('ignores occurrences before the answer that started a cron job and after the call that stopped it', () => {
  expect(cronFindings(history => (history.cronJobs[0]!.operations[0]!.answeredAt += minute))).toEqual([])
  const unknown = (history: History) => {
    history.cronJobs[0]!.operations.splice(1, 0, operation('pause', start + 3.5 * minute, { status: 'broken' }))
    remove(history, 'o4')
  }
  expect(cronFindings(unknown)).toEqual([])
  const refused = (history: History) => {
    history.cronJobs[0]!.operations.splice(1, 0, operation('resume', start + 3.5 * minute, { status: 409 }))
    remove(history, 'o4')
  }
  expect(cronFindings(refused)).toEqual(['I11 null'])
})

it('finds a second task for an occurrence, unless the other one was cancelled', () => {
  expect(cronFindings(history => addOccurrence(history, 'twin', start + 4 * minute))).toEqual(['I11 twin'])
  const resumed = (reason: string) => (history: History) => addCancelled(history, 'twin', start + 4 * minute, reason)
  expect(cronFindings(resumed('cronjob_paused'))).toEqual([])
  expect(cronFindings(resumed('user'))).toEqual(['I11 o4'])
})

it('finds an occurrence that started after its pause, its deletion or its change was answered', () => {
  for (const kind of ['pause', 'delete', 'change'] as const) {
    const late = (everyMs: number | null) => (history: History) => {
      history.cronJobs[0]!.operations[1] = operation(kind, start + 5.5 * minute, { everyMs })
      history.cronJobs[0]!.operations.push(operation('delete', start + 6.7 * minute))
    }
    expect([kind, cronFindings(late(kind === 'change' ? 7 * minute : null))]).toEqual([kind, ['I7 o6']])
  }
  // A change of the request moves no occurrence, and neither does a change to the same rule.
  for (const everyMs of [null, minute]) {
    const keep = (history: History) =>
      history.cronJobs[0]!.operations.splice(1, 0, operation('change', start + 5.5 * minute, { everyMs }))
    expect(cronFindings(keep)).toEqual([])
  }
})

it('allows a retry, a trigger and an undone claim after the pause', () => {
  const follow = (history: History) => {
    const at = start + 7 * minute
    addOccurrence(history, 'trigger', at)
    Object.assign(history.tasks.at(-1)!, { occurrenceAt: null, createdAt: at - 50 })
    const task = history.tasks.find(({ id }) => id === 'o6')!
    task.attempts = 2
    history.moves = history.moves.filter(({ taskId }) => taskId !== 'o6')
    const states = ['pending', 'processing', 'retrying', 'processing', 'success']
    history.moves.push(
      ...moves('o6', states).map((move, i) => ({ ...move, at: i < 3 ? task.dueAt : at + move.at - due })),
    )
    history.runs.push({ ...ran('o6', 2, at), status: 'success', responseStatus: 200 })
    history.runs.find(({ id }) => id === 'o61')!.status = 'failed'
    history.hits.push({
      taskId: 'o6',
      runId: 'o62',
      attempt: 2,
      path: '/cron',
      at: at + 10,
      until: at + 20,
      answered: 200,
    })
  }
  expect(cronFindings(follow)).toEqual([])
})

it('finds an occurrence that was created while the cron job was paused', () => {
  const make = (history: History) => {
    addCancelled(history, 'o8', start + 8 * minute, 'missed')
    history.tasks.at(-1)!.createdAt = start + 7 * minute
  }
  expect(cronFindings(make)).toEqual(['I11 o8'])
  const resumed = (history: History) => {
    make(history)
    history.cronJobs[0]!.catchUp = 'latest'
    history.cronJobs[0]!.operations.push(operation('resume', start + 6.9 * minute))
    history.cronJobs[0]!.operations.push(operation('pause', start + 7.9 * minute))
  }
  expect(cronFindings(resumed)).toEqual([])
})

it('finds a call long after the answer to a pause, whose claim was before it', () => {
  const call = (afterMs: number) => (history: History) => {
    const paused = history.cronJobs[0]!.operations[1]!
    const hit = history.hits.find(({ taskId }) => taskId === 'o6')!
    hit.at = hit.until = paused.answeredAt + afterMs
    for (const move of history.moves) if (move.taskId === 'o6' && move.to === 'success') move.at = hit.at + 10
  }
  expect(cronFindings(call(11_000))).toEqual([])
  expect(cronFindings(call(13_000))).toEqual(['I7 o6'])
})
