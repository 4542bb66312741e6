import {
  countDeadLetters,
  type DeadLetter,
  findDeadLetters,
  listDeadLetters,
} from '@belfry/db/dead-letters/all-dead-letters'
import type { Pool } from '@belfry/db/postgres/pool'
import { maxCounted } from '@belfry/db/tasks/startable-tasks'
import { fromId, toId } from '@belfry/domain/id'
import { BaseAdapter } from '@bull-board/api/dist/queueAdapters/base.js'
import type { JobCounts, JobStatus, QueueJob, Status } from '@bull-board/api/typings/app'

const shown = maxCounted.toLocaleString('en')

/** Shows the dead letters of all workspaces as a queue. Reads PostgreSQL along its indexes, and never changes it. */
export class DeadLetterQueue extends BaseAdapter {
  readonly #pool: Pool

  constructor(pool: Pool) {
    // For a "bullmq" queue the board would query its flows as well.
    super('bull', {
      displayName: 'Dead letters',
      description: `Tasks that could not be delivered, up to ${shown}. Retry replays one as a new task; clean discards it.`,
    })
    this.#pool = pool
  }

  getName = () => 'dead-letter'
  getStatuses = (): Status[] => ['latest', 'failed']
  getJobStatuses = (): JobStatus[] => ['failed']

  async getJobCounts(): Promise<JobCounts> {
    return { ...none, failed: await countDeadLetters(this.#pool) }
  }

  async getJobs(statuses: JobStatus[], start = 0, end = 0): Promise<QueueJob[]> {
    return statuses.includes('failed') ? (await listDeadLetters(this.#pool, start, end)).map(toJob) : []
  }

  async getJob(task: string): Promise<QueueJob | null> {
    const id = fromId('task', task)
    const [found] = id === null ? [] : await findDeadLetters(this.#pool, [id])
    return found ? toJob(found) : null
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

function toJob({ id, workspaceId, origin, attempts, createdAt, dueAt, finishedAt, ...outcome }: DeadLetter): QueueJob {
  const ids = { task: toId('task', id), workspace: toId('ws', workspaceId) }
  const due = dueAt.toISOString()
  return {
    opts: {},
    getState: async () => 'failed',
    toJSON: () => ({
      id: ids.task,
      name: `task due ${due}, ${ids.workspace} to ${origin}`,
      data: { ...ids, target: origin, due_at: due, state: 'dead', attempts },
      timestamp: createdAt.getTime(),
      delay: 0,
      opts: {},
      attemptsMade: attempts,
      processedOn: finishedAt.getTime(), // the page subtracts it from the end
      finishedOn: finishedAt.getTime(),
      failedReason: failureOf(outcome),
      progress: 0,
      stacktrace: null,
      returnvalue: null,
    }),
    promote: refuse,
    remove: refuse,
    retry: refuse,
  }
}

function failureOf({ responseStatus, errorMessage }: Pick<DeadLetter, 'responseStatus' | 'errorMessage'>): string {
  if (errorMessage !== null) return errorMessage
  return responseStatus === null
    ? 'Its runs are no longer in the log.'
    : `The target answered with status ${responseStatus}.`
}

async function refuse(): Promise<never> {
  throw new Error('The board does not change PostgreSQL.')
}
