import { checkHistory, type Limits } from './check-history.ts'
import type { History, Move, StoredRun, StoredTask } from './history.ts'

/** The due time of the tasks of the good history. */
export const due = 1_000_000

/** Returns a history of two correct tasks: one delivered at once, one after a failed attempt. */
export function goodHistory(): History {
  return {
    accepted: [
      { id: 'a', answeredAt: due - 900, executeAt: [due], paths: ['/a'] },
      { id: 'b', answeredAt: due - 900, executeAt: [due], paths: ['/b'] },
    ],
    cancelled: [],
    unclear: [],
    circuitsOpenMs: 0,
    stopped: [],
    keys: [],
    cronJobs: [],
    workspaceStops: [],
    operations: [],
    organizations: [],
    queues: [],
    charges: [],
    tasks: [stored('a', 'success', 1), { ...stored('b', 'success', 2), dueAt: due + 1_000 }],
    hits: [
      { taskId: 'a', runId: 'a1', attempt: 1, path: '/a', at: due + 10, until: due + 20, answered: 200 },
      { taskId: 'b', runId: 'b1', attempt: 1, path: '/b', at: due + 10, until: due + 20, answered: 500 },
      { taskId: 'b', runId: 'b2', attempt: 2, path: '/b', at: due + 1_010, until: due + 1_020, answered: 200 },
    ],
    runs: [
      { ...ran('a', 1, due), status: 'success', responseStatus: 200 },
      { ...ran('b', 1, due), responseStatus: 500, errorCode: 'http_status' },
      { ...ran('b', 2, due + 1_000), status: 'success', responseStatus: 200 },
    ],
    moves: [
      ...moves('a', ['pending', 'processing', 'success']),
      ...moves('b', ['pending', 'processing', 'retrying', 'processing', 'success']),
    ],
    calm: null,
    commitsPerSecond: 10,
    now: due + 500_000,
  }
}

// The tasks end after all of their calls.
const recordMs = 2_000

/** Returns a task with two retries and the due time of the others. */
export function stored(id: string, state: string, attempts: number): StoredTask {
  const times = { createdAt: due - 1_000, executeAt: due, dueAt: due, isBlocked: false }
  const origin = {
    queueId: null,
    workspaceId: 'w',
    organizationId: 'o',
    replayOf: null,
    name: `/${id}`,
    cronJobId: null,
    occurrenceAt: null,
    expiresAt: null,
    callbackOf: null,
    callbacks: [],
  }
  return { id, state, stateReason: null, attempts, maxRetries: 2, ...times, ...origin }
}

/** Returns a failed run. */
export function ran(taskId: string, attempt: number, startedAt: number): StoredRun {
  const outcome = { status: 'failed', responseStatus: null, errorCode: null }
  const times = { scheduledAt: startedAt, startedAt, finishedAt: startedAt + 20 }
  return { id: `${taskId}${attempt}`, taskId, attempt, ...times, ...outcome }
}

/** Returns the moves of a task through its states. `undone` marks a claim that goes back to pending or retrying. */
export function moves(taskId: string, states: readonly string[]): Move[] {
  let attempts = 0
  let from: string | null = null
  return states.map((state, i) => {
    const isUndone = state.startsWith('undone ')
    const to = state.replace('undone ', '')
    attempts += to === 'processing' ? 1 : isUndone ? -1 : 0
    // No run has the run id of an undone claim.
    const isDoomed = states[i + 1]?.startsWith('undone ') ?? false
    const runId = attempts === 0 || isUndone ? null : `${taskId}${attempts}${isDoomed ? ` doomed ${i}` : ''}`
    const at = due + i + (['success', 'dead', 'cancelled'].includes(to) ? recordMs : 0)
    const visible = { transaction: 1, seesBelow: 2, seesNot: [] }
    const move: Move = {
      id: i,
      taskId,
      from,
      to,
      attempts,
      runId,
      wasQuarantined: false,
      wasHeld: false,
      at,
      ...visible,
    }
    from = to
    return move
  })
}

/** Changes the good history and returns the violations that the checker finds in it, such as `I1 a`. */
export function findings(doctor: (history: History) => void, limits?: Limits): string[] {
  const history = goodHistory()
  doctor(history)
  return checkHistory(history, limits).violations.map(({ invariant, taskId }) => `${invariant} ${taskId}`)
}

/** Replaces a task of a history. */
export function taskOf(history: History, id: string): StoredTask {
  const task = history.tasks.find(candidate => candidate.id === id)
  if (!task) throw new Error(`The history has no task ${id}.`)
  return task
}

/** Replaces the moves of a task. */
export function setMoves(history: History, taskId: string, states: readonly string[]): void {
  history.moves = [...history.moves.filter(move => move.taskId !== taskId), ...moves(taskId, states)]
}
