import type { Scope } from './steps.ts'

/** The two tasks of the model: one created by a call, one occurrence of a cron job. */
export const taskNames = ['plain', 'cron'] as const
/** The processes of the model. A and B are dispatchers, Q is the quarantine process. */
export const processNames = ['A', 'B', 'Q'] as const

export const plain = 0
export const cron = 1
export const quarantineProcess = 2

/** A dispatcher from before a restore. It is in no list of processes and never comes back. */
export const stranger = 3

/** The rows of a task and its runs. Attempts are numbered from 1 on; bit n of a mask is attempt n. */
export type Row = {
  /** `none`: the scheduler has not made the occurrence yet. */
  readonly state: 'none' | 'pending' | 'processing' | 'retrying' | 'success' | 'dead' | 'cancelled'
  /** Whether the task is due by PostgreSQL's clock, or waits for its queue (`blocked`) or for the operator (`held`). */
  readonly due: 'later' | 'due' | 'held' | 'blocked'
  /** Only in a search with the floor: whether `due_at` is old, so the floor of the searches may rise above it, or is above it. */
  readonly age: 'recent' | 'old' | 'below the floor'
  readonly attempts: number
  /** Whose claim `run_id` names: a process, or null when no process could name it. The owner while `processing`. */
  readonly by: number | null
  /** Whether the claim was prefetched, and then whether the send journal has its run. */
  readonly prefetched: 'no' | 'unsent' | 'journaled'
  /** Whether the task has a deadline, and whether that has passed by PostgreSQL's clock. */
  readonly deadline: 'none' | 'ahead' | 'passed'
  /** Why it is dead without an attempt. */
  readonly reason: null | 'expired' | 'stopped'
  readonly quarantined: boolean
  readonly lost: number
  readonly lostAlone: number
  /** Executions that the organization was charged for this task. */
  readonly executions: number
  /** The attempts that have a run. */
  readonly runs: number

  // The history, which is not in the database; only the promise needs it:
  /** The attempts whose request has left. */
  readonly sent: number
  /** The cron job was paused or deleted, and this occurrence had not started. */
  readonly mayNotStart: boolean
  /** Claimed after the backup, which has been restored since or may be. */
  readonly startedSinceBackup: boolean
  /** Its deadline ended it after the backup. */
  readonly expiredSinceBackup: boolean
  /** Outcomes without their callbacks, minus callbacks without an outcome. */
  readonly missingCallbacks: number
}

/** The queue of both tasks. `limit`: `none` is like no queue; the others let one task start. */
export type Queue = {
  readonly limit: 'none' | 'one at a time' | 'one in a period' | 'ordered'
  readonly isPaused: boolean
  /** The task that has started in the current period, or null. */
  readonly startedBy: number | null
  /** Only in the variation without a search: a dispatcher is about to wake the queue. */
  readonly isToWake: boolean
}

/**
 * The knowledge of a process about a task. `asked`: its claim statement is in flight. Only in variations: `checked`, and a
 * claim whose commit hangs (`decided`), which its process may have given up (`forgotten`).
 */
export type Hold = {
  readonly at: 'nothing' | 'asked' | 'decided' | 'forgotten' | 'claimed' | 'journaled' | 'checked' | 'sent'
  readonly attempt: number
  /** Whether it must be in the send journal before it is sent. */
  readonly isPrefetched: boolean
  /** Whether it was claimed in the present session of the process. The journal and the send fence refuse earlier ones. */
  readonly isOfSession: boolean
  /** Only in the variation `asks again with a new token`: an older claim statement is in flight as well. */
  readonly hasOlder: boolean
}

export type Process = {
  readonly is: 'up' | 'frozen' | 'draining' | 'dead'
  /** Whether its row is in `dispatchers`. */
  readonly isEntered: boolean
  /** Whether its last heartbeat was less than ten seconds ago, by its own clock. */
  readonly isProven: boolean
  readonly holds: readonly [Hold, Hold]
}

/** A cancel, a stop or a replay of all tasks, in the background. Its tasks are masks, with a bit for each. */
export type Operation = {
  readonly action: 'cancel' | 'stop' | 'replay'
  /** The tasks that it takes and has not decided on. */
  readonly takes: number
  /** Those which existed at its start, and which it has not decided on: the history that the promise needs. */
  readonly owes: number
  /** The tasks that its walk has passed. */
  readonly walked: number
  readonly isHeld: boolean
}

/** The content of a backup. */
export type Stored = {
  readonly rows: readonly [Row, Row]
  readonly cronJob: 'active' | 'paused' | 'deleted'
  readonly workspace: 'exists' | 'deleted'
  readonly queue: Queue
  readonly operation: Operation | null
}

export type State = Stored & {
  readonly processes: readonly [Process, Process, Process]
  /** How many faults may still happen. */
  readonly faults: number
  readonly backup: Stored | null
  /** `held`: restored, and the operator has not released the held tasks. */
  readonly restore: 'none' | 'held' | 'released'
  /** Whether dead tasks may be replayed. Otherwise all final states are equal. */
  readonly hasReplays: boolean
}

export const nothing: Hold = { at: 'nothing', attempt: 0, isPrefetched: false, isOfSession: true, hasOlder: false }

/** Returns whether a claim is in PostgreSQL, and its process has no answer. */
export function isInDatabase({ at }: Hold): boolean {
  return at === 'asked' || at === 'decided' || at === 'forgotten'
}

export const freshProcess: Process = { is: 'up', isEntered: true, isProven: true, holds: [nothing, nothing] }

const newRow: Row = {
  state: 'pending',
  due: 'later',
  age: 'recent',
  attempts: 0,
  by: null,
  prefetched: 'no',
  deadline: 'none',
  reason: null,
  quarantined: false,
  lost: 0,
  lostAlone: 0,
  executions: 0,
  runs: 0,
  sent: 0,
  mayNotStart: false,
  startedSinceBackup: false,
  expiredSinceBackup: false,
  missingCallbacks: 0,
}

/** The plain task is accepted, with a deadline or without one, the cron job has no occurrence yet, and all processes are up. */
export function initialState(faults: number, { deadlines, queue: limit, operations }: Scope): State {
  return {
    rows: [
      { ...newRow, deadline: deadlines ? 'ahead' : 'none' },
      { ...newRow, state: 'none' },
    ],
    cronJob: 'active',
    workspace: 'exists',
    queue: { ...noQueue, limit },
    operation: null,
    processes: [freshProcess, freshProcess, freshProcess],
    faults,
    backup: null,
    restore: 'none',
    hasReplays: operations.includes('replay'),
  }
}

/** The queue of tasks that have none. */
export const noQueue: Queue = { limit: 'none', isPaused: false, startedBy: null, isToWake: false }

/** The replay of a task: it takes the place of its original here. */
export function replayed({ startedSinceBackup, expiredSinceBackup, missingCallbacks }: Row): Row {
  return { ...newRow, due: 'due', startedSinceBackup, expiredSinceBackup, missingCallbacks }
}

export function isFinished({ state }: Row): boolean {
  return state === 'success' || state === 'dead' || state === 'cancelled'
}

/** Whether the searches for waiting tasks look for it. */
export function isSearched({ state, due }: Row): boolean {
  return (state === 'pending' || state === 'retrying') && due === 'due'
}

export function isHeld(row: Row): boolean {
  return row.due === 'held' && !isFinished(row)
}

export function withRow<Part extends Stored>(state: Part, task: number, row: Row): Part {
  return { ...state, rows: task === plain ? [row, state.rows[1]] : [state.rows[0], row] }
}

export function withProcess(state: State, who: number, process: Process): State {
  const [a, b, q] = state.processes
  return { ...state, processes: who === 0 ? [process, b, q] : who === 1 ? [a, process, q] : [a, b, process] }
}

export function withHold(state: State, who: number, task: number, hold: Hold): State {
  const process = processOf(state, who)
  const holds = task === plain ? ([hold, process.holds[1]] as const) : ([process.holds[0], hold] as const)
  return withProcess(state, who, { ...process, holds })
}

export function rowOf(state: Stored, task: number): Row {
  return task === plain ? state.rows[0] : state.rows[1]
}

export function processOf(state: State, who: number): Process {
  return who === 0 ? state.processes[0] : who === 1 ? state.processes[1] : state.processes[2]
}

export function holdOf(state: State, who: number, task: number): Hold {
  const { holds } = processOf(state, who)
  return task === plain ? holds[0] : holds[1]
}

/** Returns the state without irrelevant details, so fewer states are distinct. */
export function tidied(state: State): State {
  const [one, other] = [tidiedRow(state, plain), tidiedRow(state, cron)]
  const workspace = isFinished(one) && isFinished(other) ? 'exists' : state.workspace
  const cronJob = workspace === 'deleted' || isFinished(other) || other.runs !== 0 ? 'active' : state.cronJob
  const isOver = isFinished(one) && isFinished(other)
  const queue = isOver ? { ...noQueue, limit: state.queue.limit } : state.queue
  const isSame = one === state.rows[0] && other === state.rows[1] && !isOver
  if (isSame && cronJob === state.cronJob && workspace === state.workspace) return state
  return { ...state, rows: [one, other], cronJob, workspace, queue }
}

// The owner of the run id is relevant while a process may name it. The sends of recorded attempts are relevant while a
// process may still send one. All details of an ended task that no process holds are irrelevant.
function tidiedRow(state: State, task: number): Row {
  const row = withoutBackup(state, rowOf(state, task))
  const isHeldBy = (who: number) => holdOf(state, who, task).at !== 'nothing'
  const isHeld = isHeldBy(0) || isHeldBy(1) || isHeldBy(2)
  const { startedSinceBackup, expiredSinceBackup, missingCallbacks } = row
  const history = { startedSinceBackup, expiredSinceBackup, missingCallbacks }
  if (isFinished(row)) return isHeld ? row : { ...newRow, state: row.state, ...history }
  const isNamed =
    row.by !== null && (row.state === 'processing' || (row.quarantined && row.by < stranger && isHeldBy(row.by)))
  const by = isNamed ? row.by : null
  const sent = isHeld ? row.sent : row.sent | row.runs
  const mayNotStart = row.mayNotStart && row.runs === 0
  return by === row.by && sent === row.sent && mayNotStart === row.mayNotStart ? row : { ...row, by, sent, mayNotStart }
}

// What happened since the backup is irrelevant once the operator has released the held tasks.
function withoutBackup({ restore }: State, row: Row): Row {
  const isKept = row.startedSinceBackup || row.expiredSinceBackup
  return restore === 'released' && isKept ? { ...row, startedSinceBackup: false, expiredSinceBackup: false } : row
}
