import type { Charge } from '../fixture/charges.ts'
import type { Hit } from '../fixture/fixture-target.ts'

/** The records of the API's answers, the target's log and the database. All ids are UUIDs, all times milliseconds. */
export type History = {
  /** Tasks whose POST was answered with 201. */
  accepted: AcceptedTask[]
  /** Tasks whose DELETE was answered with 2xx. */
  cancelled: string[]
  /** Tasks whose stop was answered with 2xx. */
  stopped: string[]
  /** Tasks whose DELETE or stop may have happened: it had no response, or a 5xx. */
  unclear: string[]
  /** Creates with an `Idempotency-Key`. */
  keys: KeyedCreations[]
  cronJobs: CronJobHistory[]
  workspaceStops: WorkspaceStop[]
  /** Operations on many tasks. */
  operations: StoredOperation[]
  /** Organizations with a limit of executions. */
  organizations: LimitedOrganization[]
  queues: StoredQueue[]
  hits: Hit[]
  tasks: StoredTask[]
  runs: StoredRun[]
  /** Every committed move, in order. */
  moves: Move[]
  /** The attempts that each fault may have lost. */
  charges: Charge[]
  /** What holds only while no fault disturbs the dispatchers. Null: it is not known when that is. */
  calm: Calm | null
  /** For how long circuit breakers were open, in which tasks wait. */
  circuitsOpenMs: number
  /** How many transactions a second the installation committed at the end, while no task was due. Null: not measured. */
  commitsPerSecond: number | null
  /** By the database's clock. */
  now: number
}

/** A time in which a workspace starts nothing: from the answer to its suspension or deletion to the call that resumed it. */
export type WorkspaceStop = { workspaceId: string; kind: 'suspension' | 'deletion'; from: number; until: number }

/** Limits that a fault may exceed for a while: a host is divided between the dispatchers that are live. */
export type Calm = {
  disturbed: Array<{ from: number; until: number }>
  /** By how much a call may be late behind its claim, as far as the machine causes it. */
  slackMs: number
  /** Of the target's host: the greatest number of calls at once, and of starts in a second. */
  concurrency: number | null
  rate: number | null
}

export type StoredOperation = {
  id: string
  workspaceId: string
  action: 'cancel' | 'stop' | 'replay' | 'discard'
  /** Whether it applies to all tasks of the workspace that it can. */
  isWhole: boolean
  /** How many tasks it says to have ended or settled. */
  done: number
  createdAt: number
  /** Null while it runs. */
  finishedAt: number | null
}

/** The possible values of a task after its POST and its PATCH: two for a field whose PATCH was not answered. */
export type AcceptedTask = {
  id: string
  /** When the 201 arrived. */
  answeredAt: number
  executeAt: number[]
  paths: string[]
}

export type KeyedCreations = {
  key: string
  path: string
  /** The ids in the answers. */
  answered: string[]
}

/** An operation on a cron job: when its call was sent, and when its answer arrived. */
export type CronOperation = {
  kind: 'create' | 'pause' | 'resume' | 'delete' | 'change' | 'trigger'
  sentAt: number
  answeredAt: number
  status: number | 'broken'
  /** The new interval of a `create` or `change`. Null: the rule stays the same. */
  everyMs: number | null
}

/** A cron job of the row: its occurrences are the multiples of an interval in UTC. */
export type CronJobHistory = {
  id: string
  catchUp: 'latest' | 'all' | 'none'
  operations: CronOperation[]
}

export type LimitedOrganization = {
  id: string
  limit: number
  /** The used executions according to the API. */
  counted: number
}

/** A queue of tasks. Its limits stay the same during a row. */
export type StoredQueue = {
  id: string
  name: string
  maxConcurrent: number | null
  rateCount: number | null
  ratePeriodMs: number | null
  ordered: boolean
  /** From the answer to each pause to the call of the resume that ended it. */
  pauses: Array<{ from: number; until: number }>
}

export type StoredTask = {
  id: string
  /** Null without a queue. */
  queueId: string | null
  workspaceId: string
  organizationId: string | null
  /** The task of which it is a replay. */
  replayOf: string | null
  name: string
  state: string
  stateReason: string | null
  attempts: number
  maxRetries: number
  createdAt: number
  executeAt: number
  dueAt: number
  /** Whether its queue lets no attempt start. */
  isBlocked: boolean
  cronJobId: string | null
  occurrenceAt: number | null
  /** Its deadline. */
  expiresAt: number | null
  /** The task that a callback reports. */
  callbackOf: string | null
  /** The names of the task's own callbacks, such as `on_success`. */
  callbacks: readonly string[]
}

export type StoredRun = {
  id: string
  taskId: string
  attempt: number
  status: string
  /** The due time of this attempt: `execute_at`, or the time of the retry. */
  scheduledAt: number
  startedAt: number
  finishedAt: number
  responseStatus: number | null
  errorCode: string | null
}

export type Move = {
  /** Its number in the order of the moves. */
  id: number
  taskId: string
  from: string | null
  to: string
  attempts: number
  runId: string | null
  /** Whether the task was in quarantine before this move. */
  wasQuarantined: boolean
  /** Whether an operator held the task before this move. */
  wasHeld: boolean
  at: number
  /** The number of its transaction. */
  transaction: number
  /** Its statement saw the transactions with lower numbers, except `seesNot`. */
  seesBelow: number
  /** Transactions that were not committed yet, or whose commit was not visible yet. */
  seesNot: readonly number[]
}

/** Returns whether the statement of a move saw another one. */
export function sees({ seesBelow, seesNot, transaction: own }: Move, { transaction }: Move): boolean {
  return transaction === own || (transaction < seesBelow && !seesNot.includes(transaction))
}

/** The error code of a run whose dispatcher did not record it. */
export const lostCode = 'worker_lost'

/** Formats all records of a task in the order of time. */
export function formatHistory(history: History, taskId: string): string {
  const lines: Array<[number, string]> = []
  for (const { id, executeAt } of history.accepted)
    if (id === taskId) lines.push([executeAt[0] ?? 0, 'is to be executed (201)'])
  for (const id of history.cancelled) if (id === taskId) lines.push([history.now, 'its DELETE was answered with 2xx'])
  for (const id of history.stopped) if (id === taskId) lines.push([history.now, 'its stop was answered with 2xx'])
  for (const move of history.moves) {
    if (move.taskId !== taskId) continue
    const quarantine = move.wasQuarantined ? ', was in quarantine' : ''
    lines.push([move.at, `${move.from ?? '(new)'} -> ${move.to}, attempts ${move.attempts}${quarantine}`])
  }
  for (const hit of history.hits) {
    if (hit.taskId !== taskId) continue
    lines.push([
      hit.at,
      `target called: attempt ${hit.attempt}, run ${hit.runId}, answered ${hit.answered ?? 'nothing'}`,
    ])
  }
  for (const run of history.runs) {
    if (run.taskId !== taskId) continue
    const outcome = run.errorCode ?? run.responseStatus
    lines.push([run.startedAt, `run ${run.id} starts: attempt ${run.attempt}`])
    lines.push([run.finishedAt, `run ${run.id} ends: ${run.status} (${outcome})`])
    for (const { cause, runIds } of history.charges)
      if (runIds.includes(run.id)) lines.push([run.finishedAt, `run ${run.id} may be lost: ${cause}`])
  }
  const sorted = lines
    .sort(([a], [b]) => a - b)
    .map(([at, text]) => `    ${new Date(at).toISOString().slice(11)} ${text}`)
  const task = history.tasks.find(({ id }) => id === taskId)
  const end = task
    ? `${describeState(task)}, attempts ${task.attempts} of ${task.maxRetries + 1}`
    : 'not in the database'
  return [`  task ${taskId}: ${end}`, ...sorted].join('\n')
}

function describeState({ state, stateReason }: StoredTask): string {
  return stateReason === null ? state : `${state} (${stateReason})`
}
