import type { Report } from './check-history.ts'
import { clockToleranceMs } from './check-task.ts'
import { groupBy } from './group-by.ts'
import type { History, Move, StoredOperation, StoredTask } from './history.ts'

// The moves of its last step may come after the time at which it says to have ended.
const stepMs = 1_000

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
  for (const operation of history.operations) {
    const { id, action, finishedAt, done, workspaceId } = operation
    const complain = (taskId: string | null, text: string) => report('I16', taskId, `${text} (${action} ${id})`)
    const tasks = history.tasks.filter(task => task.workspaceId === workspaceId)
    if (finishedAt === null) complain(null, 'an operation has not ended')
    else if (action === 'replay') {
      const replays = tasks.filter(({ replayOf, createdAt }) => replayOf !== null && isWithin(operation, createdAt))
      if (replays.length !== done) complain(null, `an operation says ${done} replays and made ${replays.length}`)
    } else if (action !== 'discard') {
      checkEnded(history, operation, tasks, moves, complain)
    }
  }
}

type Complain = (taskId: string | null, text: string) => void

function checkEnded(
  { cancelled, stopped }: History,
  operation: StoredOperation,
  tasks: readonly StoredTask[],
  moves: ReadonlyMap<string, Move[]>,
  complain: Complain,
): void {
  const { state, reason, from } = endedBy[operation.action === 'cancel' ? 'cancel' : 'stop']
  const alone = new Set([...cancelled, ...stopped])
  let ended = 0
  for (const task of tasks) {
    const own = moves.get(task.id) ?? []
    const isEnded = task.state === state && task.stateReason === reason && isWithin(operation, own.at(-1)?.at ?? 0)
    if (isEnded && !alone.has(task.id)) ended++
    if (operation.isWhole && isLeftOut(operation, own, from)) complain(task.id, 'was left out by an operation for all')
  }
  if (ended !== operation.done) complain(null, `an operation says ${operation.done} tasks and ended ${ended}`)
}

// Whether the task waited in a state from the start of the operation to its end, and was claimed afterwards.
function isLeftOut({ createdAt, finishedAt }: StoredOperation, moves: readonly Move[], state: string): boolean {
  const before = moves.findLast(({ at }) => at < createdAt - clockToleranceMs)
  const next = moves.find(({ at }) => at >= createdAt - clockToleranceMs)
  return before?.to === state && next?.to === 'processing' && next.at > (finishedAt ?? 0) + clockToleranceMs
}

function isWithin({ createdAt, finishedAt }: StoredOperation, at: number): boolean {
  return at >= createdAt - clockToleranceMs && at <= (finishedAt ?? 0) + stepMs
}
