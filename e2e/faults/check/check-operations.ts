import type { Report } from './check-history.ts'
import { clockToleranceMs } from './check-task.ts'
import { groupBy } from './group-by.ts'
import type { History, Move, StoredOperation, StoredTask } from './history.ts'

// The transaction of its first step may begin before it, and the moves of its last step come after its end. Each statement may
// take half a second on the way.
const stepMs = 2_000

type Ended = { state: string; reason: string; from: string }

const endedBy: Record<'cancel' | 'stop', Ended> = {
  cancel: { state: 'cancelled', reason: 'user', from: 'pending' },
  stop: { state: 'dead', reason: 'stopped', from: 'retrying' },
}

/**
 * Checks I16: an operation on many tasks ends, and has done what it says. One for all tasks of a workspace leaves out none that
 * waited from its start to its end.
 */
export function checkOperations(history: History, report: Report): void {
  const moves = groupBy(history.moves)
  const tasksOf = (of: StoredOperation) => history.tasks.filter(({ workspaceId }) => workspaceId === of.workspaceId)
  const alone = new Set([...history.cancelled, ...history.stopped])
  const unclear = new Set(history.unclear)
  for (const operation of history.operations) {
    const { id, action, finishedAt, isWhole } = operation
    if (finishedAt === null) report('I16', null, `an operation has not ended (${action} ${id})`)
    else if (isWhole && (action === 'cancel' || action === 'stop')) {
      for (const task of tasksOf(operation))
        if (isLeftOut(operation, moves.get(task.id) ?? [], endedBy[action].from))
          report('I16', task.id, `was left out by an operation for all (${action} ${id})`)
    }
  }
  for (const operation of joinNeighbours(history.operations.filter(({ finishedAt }) => finishedAt !== null))) {
    const { id, action, done } = operation
    if (action === 'discard') continue
    const isDone = (task: StoredTask) =>
      action === 'replay'
        ? task.replayOf !== null && isWithin(operation, task.createdAt)
        : !alone.has(task.id) &&
          isEnded(task, endedBy[action]) &&
          isWithin(operation, moves.get(task.id)?.at(-1)?.at ?? 0)
    const found = tasksOf(operation).filter(isDone)
    const certain = found.filter(task => !unclear.has(task.id))
    if (found.length < done || certain.length > done)
      report('I16', null, `${action} ${id} says ${done} tasks, and there are ${certain.length} to ${found.length}`)
  }
}

function isEnded(task: StoredTask, { state, reason }: Ended): boolean {
  return task.state === state && task.stateReason === reason
}

// Joins equal operations of a workspace that are so close in time that what one did may seem to be done by the other.
function joinNeighbours(operations: readonly StoredOperation[]): StoredOperation[] {
  const joined: StoredOperation[] = []
  for (const next of operations.toSorted((a, b) => a.createdAt - b.createdAt)) {
    const before = joined.findLast(
      ({ action, workspaceId }) => action === next.action && workspaceId === next.workspaceId,
    )
    if (before && isWithin(before, next.createdAt - stepMs)) {
      before.id += ` and ${next.id}`
      before.done += next.done
      before.finishedAt = Math.max(before.finishedAt ?? 0, next.finishedAt ?? 0)
    } else joined.push({ ...next })
  }
  return joined
}

// Whether the task waited in a state from the start of the operation to its end, and was claimed afterwards.
function isLeftOut({ createdAt, finishedAt }: StoredOperation, moves: readonly Move[], state: string): boolean {
  const before = moves.findLast(({ at }) => at < createdAt - clockToleranceMs)
  const next = moves.find(({ at }) => at >= createdAt - clockToleranceMs)
  return before?.to === state && next?.to === 'processing' && next.at > (finishedAt ?? 0) + clockToleranceMs
}

function isWithin({ createdAt, finishedAt }: StoredOperation, at: number): boolean {
  return at >= createdAt - stepMs && at <= (finishedAt ?? 0) + stepMs
}
