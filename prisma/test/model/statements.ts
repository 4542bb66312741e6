import { type Rules, theRules } from './rules.ts'
import { cron, isFinished, isHeld, plain, type Row, rowOf, type Stored, withRow } from './state.ts'

// Each function is one statement of the product: from a row before it to the same row after it. A statement that changes
// nothing returns the row that it was given. `model.long.ts` compares each of them with PostgreSQL.

/** The process that claims, and the kind of claim. */
export type ClaimOf = { by: number; isPrefetch: boolean; isQuarantine: boolean }

/** `claimTasks` */
export function claim(rules: Rules, stored: Stored, task: number, { by, isPrefetch, isQuarantine }: ClaimOf): Row {
  const row = stored.rows[task] as Row
  const isWaiting = row.state === 'pending' || row.state === 'retrying'
  if (!isWaiting || (row.quarantined !== isQuarantine && rules.claimKeepsQuarantine)) return row
  if (row.deadline === 'passed' && row.due !== 'held' && rules.claimExpires) return expire(rules, row)
  if (row.due !== 'due' && rules.claimAsksClock) return row
  if (isPrefetch && (task === cron || (row.deadline !== 'none' && !rules.prefetchesDeadlines))) return row
  const isDeleted = stored.workspace === 'deleted' && rules.claimAsksWorkspace
  if (isDeleted || (task === cron && isRefused(rules, stored.cronJob, row))) return { ...row, state: 'cancelled' }
  return {
    ...row,
    state: 'processing',
    attempts: row.attempts + 1,
    by,
    prefetched: isPrefetch ? 'unsent' : 'no',
    executions: row.executions + (row.state === 'pending' ? 1 : 0),
  }
}

/**
 * `claimTasks`, which asks the queue of the task first. A queue without a permit blocks its due tasks. A claim that ends the
 * task wakes the queue.
 */
export function claimInQueue<Part extends Stored>(rules: Rules, stored: Part, task: number, of: ClaimOf): Part {
  const row = rowOf(stored, task)
  const after = claim(rules, stored, task, of)
  const { queue } = stored
  const isLimited = queue.limit !== 'none' || queue.isPaused
  if (!isLimited || after === row) return withRow(stored, task, after)
  if (after.state === 'dead') return advance(withRow(stored, task, after))
  if (of.isPrefetch) return stored
  const permits = permitsOf(rules, stored)
  if (permits === 0 || !isNext(rules, stored, task))
    return blockDue(stored, task, permits === 0 || queue.limit === 'ordered')
  if (isFinished(after)) return advance(withRow(stored, task, after))
  const isStart = queue.limit === 'one in a period'
  return { ...withRow(stored, task, after), queue: isStart ? { ...queue, startedBy: task } : queue }
}

function permitsOf(rules: Rules, { queue, rows }: Stored): number {
  if (queue.isPaused && rules.claimKeepsPause) return 0
  if (queue.limit === 'none') return Number.POSITIVE_INFINITY
  if (queue.limit === 'one in a period') return rules.claimCountsStarts && queue.startedBy !== null ? 0 : 1
  if (queue.limit === 'ordered' && rules.heldTasksKeepOrder && isBehindHeld(rows)) return 0
  const inFlight = rows.some(({ state, due }) => state === 'processing' && due !== 'held')
  return inFlight && rules.claimCountsInFlight ? 0 : 1
}

// No task passes a blocked one. In an ordered queue, the first task that is neither blocked nor in flight is next.
function isNext(rules: Rules, { queue, rows }: Stored, task: number): boolean {
  const isBehind = rows.some((row, i) => i < task && !isFinished(row) && row.due === 'blocked')
  if (isBehind) return false
  return queue.limit !== 'ordered' || !rules.claimKeepsOrder || rows.findIndex(waitsUnblocked) === task
}

function isBehindHeld(rows: Stored['rows']): boolean {
  const head = rows.findIndex(waitsUnblocked)
  return rows.some((row, i) => i < head && isHeld(row))
}

function waitsUnblocked(row: Row): boolean {
  return (row.state === 'pending' || row.state === 'retrying') && (row.due === 'later' || row.due === 'due')
}

// A full queue also blocks its other due tasks, except the head of an ordered queue.
function blockDue<Part extends Stored>(stored: Part, refused: number, isFull: boolean): Part {
  const head = stored.rows.findIndex(waitsUnblocked)
  const isHead = (task: number) => stored.queue.limit === 'ordered' && permitsOf(theRules, stored) > 0 && task === head
  let next = withRow(stored, refused, { ...rowOf(stored, refused), due: 'blocked' })
  for (const task of [plain, cron]) {
    const row = rowOf(next, task)
    const isOther = task !== refused && waitsUnblocked(row) && row.due === 'due'
    if (isFull && isOther && !isHead(task)) next = withRow(next, task, { ...row, due: 'blocked' })
  }
  return next
}

/** `advanceQueues`: makes the first blocked task due when the queue has a permit for it. */
export function advance<Part extends Stored>(stored: Part): Part {
  const { rows, queue } = stored
  const first = rows.findIndex(row => !isFinished(row) && row.due === 'blocked')
  if (first === -1 || permitsOf(theRules, stored) === 0) return stored
  const isTaken = queue.limit === 'ordered' && rows.some((row, i) => i < first && (waitsUnblocked(row) || isHeld(row)))
  return isTaken ? stored : withRow(stored, first, { ...rowOf(stored, first), due: 'due', age: 'recent' })
}

function isRefused({ claimRefuses }: Rules, cronJob: Stored['cronJob'], row: Row): boolean {
  if (row.state !== 'pending' || claimRefuses === 'none') return false
  return cronJob !== 'active' || (claimRefuses === 'cron job was paused' && row.mayNotStart)
}

/** `undoClaims`, to be claimed later than before with `due`. */
export function undo(rules: Rules, row: Row, by: number, due: Row['due']): Row {
  if (row.state !== 'processing' || (rules.undoIsFenced && row.by !== by)) return row
  const isUnstarted = row.attempts === 1
  return {
    ...row,
    state: isUnstarted ? rules.undoneState : 'retrying',
    due,
    age: due === 'later' ? 'recent' : row.age,
    attempts: row.attempts - 1,
    by: null,
    prefetched: 'no',
    executions: row.executions - (isUnstarted && rules.undoRefunds ? 1 : 0),
  }
}

/** As `undo`, and the queue gets the start back if it is of its current period. */
export function undoInQueue<Part extends Stored>(
  rules: Rules,
  stored: Part,
  task: number,
  by: number,
  due: Row['due'],
): Part {
  const row = rowOf(stored, task)
  const after = undo(rules, row, by, due)
  const { queue } = stored
  const isReturned = after !== row && queue.startedBy === task
  return { ...withRow(stored, task, after), queue: isReturned ? { ...queue, startedBy: null } : queue }
}

/** `journalSends`, for a dispatcher in the session that it names. */
export function journal(row: Row, by: number): Row {
  return row.state === 'processing' && row.by === by && row.prefetched === 'unsent'
    ? { ...row, prefetched: 'journaled' }
    : row
}

/** How a call ended. `abandoned`: the dispatcher stopped before the target had answered. */
export type Outcome = 'success' | 'failure' | 'abandoned'

/** `recordAttempts`. A lost attempt may still be recorded until its task is claimed again. */
export function record(rules: Rules, row: Row, by: number, attempt: number, outcome: Outcome): Row {
  const isOwn = row.by === by || !rules.recordIsFenced
  const isLate = row.quarantined && isOwn && (row.state === 'retrying' || !rules.lateRecordIsFenced)
  if (!isLate && !(row.state === 'processing' && isOwn)) return row
  const lostBefore = isLate ? row.lost - 1 : row.lost
  const lost = lostBefore + (outcome === 'abandoned' ? 1 : 0)
  const next = nextOf(rules, attempt - lostBefore, outcome)
  return {
    ...row,
    ...next,
    due: row.due === 'held' && next.state === 'retrying' ? 'held' : next.due,
    age: 'recent',
    prefetched: 'no',
    quarantined: false,
    lost,
    lostAlone: 0,
    runs: row.runs | (1 << attempt),
  }
}

// As `nextAttempt` of the domain decides.
function nextOf(rules: Rules, tried: number, outcome: Outcome): Pick<Row, 'state' | 'due'> {
  if (outcome === 'success') return { state: 'success', due: 'due' }
  if (outcome === 'abandoned') return { state: 'retrying', due: 'later' }
  return tried > rules.maxRetries ? { state: 'dead', due: 'due' } : { state: 'retrying', due: 'later' }
}

/** The claims that `endDispatcher` and `leaveDispatchers` undo: prefetched ones that are not in the journal. */
function isUnsent({ endUndoesUnsent }: Rules, row: Row, hasJournal: boolean): boolean {
  return hasJournal && row.prefetched === 'unsent' && endUndoesUnsent
}

/** `loseAttempts` */
export function lose(rules: Rules, row: Row, isAlone: boolean): Row {
  const lostAlone = row.lostAlone + (isAlone || rules.lossCounts === 'any' ? 1 : 0)
  const isPoison = lostAlone >= rules.poisonLimit
  return {
    ...row,
    state: isPoison ? 'dead' : 'retrying',
    due: isPoison ? row.due : 'later',
    age: 'recent',
    prefetched: 'no',
    quarantined: true,
    lost: row.lost + 1,
    lostAlone,
    runs: row.runs | (1 << row.attempts),
  }
}

/** `endDispatcher`, for the rows that a dispatcher has claimed, in one transaction. Null for a task without a claim. */
export function endRows(
  rules: Rules,
  owned: readonly [Row | null, Row | null],
  id: number,
  hasJournal: boolean,
): [Row | null, Row | null] {
  const sent = owned.filter(row => row && row.due !== 'held' && !isUnsent(rules, row, hasJournal))
  const isAlone = hasJournal && sent.length === 1
  const end = (row: Row | null) => {
    if (!row || row.due === 'held') return row
    return isUnsent(rules, row, hasJournal) ? undo(rules, row, id, row.due) : lose(rules, row, isAlone)
  }
  return [end(owned[0]), end(owned[1])]
}

/** The same as `endRows`, for the whole state. */
export function endDispatcher<Part extends Stored>(rules: Rules, stored: Part, id: number, hasJournal: boolean): Part {
  const owned = (row: Row) => (row.state === 'processing' && row.by === id ? row : null)
  const [one, other] = stored.rows
  const [endedOne, endedOther] = endRows(rules, [owned(one), owned(other)], id, hasJournal)
  return { ...stored, rows: [endedOne ?? one, endedOther ?? other] }
}

/** `endTask`: cancel */
export function cancel(row: Row): Row {
  return row.state === 'pending' ? { ...row, state: 'cancelled' } : row
}

/** `endTask`: stop */
export function stop(row: Row): Row {
  return row.state === 'retrying' ? { ...row, state: 'dead', quarantined: false, reason: 'stopped' } : row
}

/** `expireTasks` */
export function expire({ holdStopsDeadline }: Rules, row: Row): Row {
  const isWaiting = (row.state === 'pending' || row.state === 'retrying') && !(holdStopsDeadline && row.due === 'held')
  return isWaiting && row.deadline === 'passed' ? { ...row, state: 'dead', quarantined: false, reason: 'expired' } : row
}

/** `changePendingTask`, with a later time that is before the deadline. After the deadline there is no such time. */
export function postpone(row: Row): Row {
  if (row.state !== 'pending' || row.deadline === 'passed') return row
  return { ...row, due: row.due === 'held' ? 'held' : 'later', age: 'recent' }
}

/** `changePendingTask`, with a queue, which decides again. */
export function moveToQueue(row: Row): Row {
  return row.state === 'pending' && row.due === 'blocked' ? { ...row, due: 'due' } : row
}

/** `pauseCronJob` and `deleteCronJob`, for an occurrence. */
export function stopOccurrence(row: Row): Row {
  if (row.state === 'pending') return { ...row, state: 'cancelled' }
  const isUnstarted = row.state === 'processing' ? row.attempts === 1 : row.state === 'retrying' && row.attempts === 0
  return isUnstarted ? { ...row, mayNotStart: true } : row
}

/** `expandCronJobs` */
export function expand(row: Row): Row {
  return row.state === 'none' ? { ...row, state: 'pending' } : row
}

/** `windDownWorkspace` */
export function windDown(row: Row): Row {
  return row.state === 'pending' || row.state === 'retrying' ? { ...row, state: 'cancelled' } : row
}

/** `holdOverdueTasks` */
export function hold({ holdsExpired }: Rules, row: Row): Row {
  const isExpired = row.deadline === 'passed' && holdsExpired
  const isOverdue = row.due === 'due' || row.due === 'blocked' || row.state === 'processing' || isExpired
  return !isFinished(row) && row.state !== 'none' && isOverdue ? { ...row, due: 'held' } : row
}

/** `releaseHeldTasks`. The deadline moves by the time for which the task is late. Held tasks count as due in the model. */
export function release(row: Row): Row {
  if (!isHeld(row)) return row
  return { ...row, due: 'due', deadline: row.deadline === 'passed' ? 'ahead' : row.deadline }
}
