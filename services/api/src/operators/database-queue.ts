import type { Pool } from '@belfry/db/postgres/pool'
import {
  type BoardState,
  type BoardTask,
  countBoardTasks,
  findBoardTasks,
  listBoardTasks,
} from '@belfry/db/tasks/board-tasks'
import { maxCounted } from '@belfry/db/tasks/startable-tasks'
import { fromId, toId } from '@belfry/domain/id'
import { BaseAdapter } from '@bull-board/api/dist/queueAdapters/base.js'
import type { JobCounts, JobStatus, QueueAdapterOptions, QueueJob, Status } from '@bull-board/api/typings/app'

const shown = maxCounted.toLocaleString('en')

/** Makes the queue of the waiting tasks of all workspaces. */
export function waitingWork(pool: Pool): BaseAdapter {
  return new DatabaseQueue(pool, 'waiting-work', ['active', 'waiting', 'delayed'], {
    readOnlyMode: true,
    displayName: 'Waiting work',
    description: `Tasks in flight, due and due later: the next ${shown} of each.`,
  })
}

/** Makes the queue of the dead letters of all workspaces. */
export function deadLetterQueue(pool: Pool): BaseAdapter {
  return new DatabaseQueue(pool, 'dead-letter', ['failed'], {
    displayName: 'Dead letters',
    description: `Tasks that could not be delivered, up to ${shown}. Retry replays one as a new task; clean discards it.`,
  })
}

// Shows the tasks of some states as a queue. Reads PostgreSQL along its indexes, and never changes it.
class DatabaseQueue extends BaseAdapter {
  readonly #pool: Pool
  readonly #name: string
  readonly #states: BoardState[]

  constructor(pool: Pool, name: string, states: BoardState[], options: Partial<QueueAdapterOptions>) {
    super('bull', options) // for a "bullmq" queue the board would query its flows as well
    this.#pool = pool
    this.#name = name
    this.#states = states
  }

  getName(): string {
    return this.#name
  }

  getStatuses(): Status[] {
    return ['latest', ...this.#states]
  }

  getJobStatuses(): JobStatus[] {
    return this.#states
  }

  // Sequentially: the requests of callers share the pool.
  async getJobCounts(): Promise<JobCounts> {
    const counts = { ...none }
    for (const state of this.#states) counts[state] = await countBoardTasks(this.#pool, state)
    return counts
  }

  async getJobs(statuses: JobStatus[], start = 0, end = 0): Promise<QueueJob[]> {
    const tasks: BoardTask[] = []
    for (const state of this.#states.filter(state => statuses.includes(state)))
      tasks.push(...(await listBoardTasks(this.#pool, state, start, end)))
    return tasks.map(toJob)
  }

  async getJob(task: string): Promise<QueueJob | null> {
    const id = fromId('task', task)
    const [found] = id === null ? [] : await findBoardTasks(this.#pool, [id])
    return found?.boardState && this.#states.includes(found.boardState) ? toJob(found) : null
  }

  getJobLogs = async () => []
  getJobSchedulers = async () => []
  getJobSchedulersCount = async () => 0
  getGlobalConcurrency = async () => null
  getRedisInfo = async () => null
  isPaused = async () => false

  getMetrics = refuse
  clean = refuse
  addJob = refuse
  pause = refuse
  resume = refuse
  empty = refuse
  obliterate = refuse
  promoteAll = refuse
  removeJobScheduler = refuse
  updateJobScheduler = refuse
  runJobSchedulerNow = refuse
  setGlobalConcurrency = refuse
}

const none: JobCounts = {
  latest: 0,
  active: 0,
  waiting: 0,
  'waiting-children': 0,
  prioritized: 0,
  completed: 0,
  failed: 0,
  delayed: 0,
  paused: 0,
}

function toJob(task: BoardTask): QueueJob {
  const { boardState, attempts, createdAt, dueAt, finishedAt } = task
  const ids = { task: toId('task', task.id), workspace: toId('ws', task.workspaceId) }
  const due = dueAt.toISOString()
  const startedAt = boardState === 'active' ? task.updatedAt : finishedAt // the page subtracts it from the end
  const delay = boardState === 'delayed' ? dueAt.getTime() - createdAt.getTime() : 0
  return {
    opts: { delay },
    getState: async () => boardState ?? 'unknown',
    toJSON: () => ({
      id: ids.task,
      name: `task due ${due}, ${ids.workspace} to ${task.origin}`,
      data: { ...ids, target: task.origin, due_at: due, state: task.state, attempts },
      timestamp: createdAt.getTime(),
      delay,
      opts: { delay },
      attemptsMade: attempts,
      processedOn: startedAt?.getTime() ?? null,
      finishedOn: finishedAt?.getTime() ?? null,
      failedReason: failureOf(task),
      progress: 0,
      stacktrace: null,
      returnvalue: null,
    }),
    promote: refuse,
    remove: refuse,
    retry: refuse,
  }
}

function failureOf({ boardState, responseStatus, errorMessage }: BoardTask): string {
  if (errorMessage !== null) return errorMessage
  if (responseStatus !== null) return `The target answered with status ${responseStatus}.`
  return boardState === 'failed' ? 'Its runs are no longer in the log.' : ''
}

async function refuse(): Promise<never> {
  throw new Error('The board does not change PostgreSQL.')
}
