import { hash } from 'node:crypto'

/**
 * A task to dispatch: its id (`task_...`) and its due time in epoch milliseconds. A caller that knows the workspace
 * (`ws_...`) and the origin of the target, as its URL spells it, adds them and spares the dispatcher a query.
 */
export type DueTask = { id: string; dueAt: number; workspace?: string; origin?: string }

/**
 * The data of a job: ids and times of tasks, never their content. `target` is the index of the task in `targets`.
 */
export type DispatchJob = {
  tasks: ReadonlyArray<readonly [id: string, dueAt: number, target?: number]>
  targets?: ReadonlyArray<readonly [workspace: string, origin: string]>
}

/** The parts of a job that name its tasks. */
export type ReadableJob = { name: string; data: DispatchJob }

/** A job in BullMQ's format. */
export type NewJob = {
  name: string
  data: DispatchJob
  opts: { jobId: string; delay: number; timestamp?: number; priority?: number }
}

/**
 * How far this machine's clock may differ from the database's before a correction is needed. Less than the lead of a job
 * minus BullMQ's own lateness.
 */
export const toleratedSkewMs = 100

/**
 * How long before its first task a job becomes available; the dispatcher waits for the exact time. The lead hides BullMQ's
 * own lateness (30 to 110 ms for delayed jobs).
 */
const leadMs = 250

const cohortSize = 100
const maxOriginLength = 80
const maxShortField = 64

/**
 * Groups tasks into jobs: tasks that are due in the same second share jobs of up to 100. The same tasks make the same jobs
 * with the same ids, so Redis refuses duplicates.
 *
 * A job's time is its timestamp plus its delay. BullMQ takes the timestamp from this machine's clock. When that clock is
 * wrong, the job carries the database's time. This costs memory, so other jobs do not carry it.
 * @param now - The database's clock in epoch milliseconds.
 * @param exceedsBurst - Whether the workspace of a task has exceeded its burst, so the job gets a lower priority.
 * @param localNow - This machine's clock in epoch milliseconds. Default: the current time.
 */
export function toJobs(
  tasks: readonly DueTask[],
  now: number,
  exceedsBurst: (task: DueTask) => boolean,
  localNow = Date.now(),
): NewJob[] {
  const clock = { now, timestamp: Math.abs(localNow - now) > toleratedSkewMs ? { timestamp: Math.round(now) } : {} }
  const bySecond = new Map<number, DueTask[]>()
  for (const task of tasks) {
    const second = Math.floor(task.dueAt / 1000)
    const together = bySecond.get(second)
    if (together) together.push(task)
    else bySecond.set(second, [task])
  }
  return [...bySecond.values()].flatMap(together => {
    const jobs: NewJob[] = []
    for (let i = 0; i < together.length; i += cohortSize) {
      jobs.push(toJob(together.slice(i, i + cohortSize), clock, exceedsBurst))
    }
    return jobs
  })
}

const burstSize = 100
const maxBursts = 10_000

/**
 * Returns a function that counts jobs by the workspace and the second of their first task, and returns true after the first
 * 100. Workers take jobs in order, so without this, thousands of jobs of one workspace would delay the others by seconds.
 * It remembers the latest 10,000 bursts.
 */
export function countBursts(): (task: DueTask) => boolean {
  const counts = new Map<string, number>()
  return ({ workspace, dueAt }) => {
    if (workspace === undefined) return false
    const key = `${workspace} ${Math.floor(dueAt / 1000)}`
    const count = (counts.get(key) ?? 0) + 1
    counts.set(key, count)
    const oldest = counts.keys().next()
    if (counts.size > maxBursts && !oldest.done) counts.delete(oldest.value)
    return count > burstSize
  }
}

/**
 * Counts the leading tasks of a list, in order of time, whose jobs do not depend on later tasks: all but the tasks of the
 * last job, unless it is full.
 */
export function countOfWholeCohorts(tasks: readonly DueTask[]): number {
  const secondOf = (task: DueTask | undefined) => (task === undefined ? null : Math.floor(task.dueAt / 1000))
  const last = secondOf(tasks.at(-1))
  let ofLast = 0
  while (ofLast < tasks.length && secondOf(tasks.at(-1 - ofLast)) === last) ofLast++
  return tasks.length - (ofLast % cohortSize)
}

export function tasksOf({ name, data: { tasks, targets = targetsOfName(name) } }: ReadableJob): DueTask[] {
  return tasks.map(([id, dueAt, target]) => {
    const [workspace, origin] = targets[target ?? (tasks.length === 1 ? 0 : -1)] ?? []
    return workspace === undefined || origin === undefined ? { id, dueAt } : { id, dueAt, workspace, origin }
  })
}

// Redis stores a job in some 500 bytes if each field is at most 64 bytes long, and otherwise in twice as much. A job of one
// task therefore has a short id, and its target in the name when it fits. A task in a larger job costs 100 bytes.
function toJob(
  tasks: readonly DueTask[],
  { now, timestamp }: { now: number; timestamp: { timestamp?: number } },
  exceedsBurst: (task: DueTask) => boolean,
): NewJob {
  const firstAt = Math.min(...tasks.map(({ dueAt }) => dueAt))
  const [first] = tasks
  const isOfOne = tasks.every(({ workspace }) => workspace === first?.workspace)
  return {
    name: tasks.length === 1 && first ? nameOfOne(first) : `${tasks.length} tasks ${dueIn(firstAt)}`,
    data: tasks.length === 1 ? { tasks: tasks.map(({ id, dueAt }) => [id, dueAt]) } : cohortData(tasks),
    opts: {
      jobId: jobIdOf(tasks),
      delay: Math.max(0, Math.round(firstAt - leadMs - now)),
      ...timestamp,
      ...(first && isOfOne && exceedsBurst(first) ? { priority: 1 } : {}),
    },
  }
}

function nameOfOne({ dueAt, workspace, origin }: DueTask): string {
  const target = `${workspace} ${origin}`
  return workspace === undefined || origin === undefined || target.length > maxShortField
    ? `task ${dueIn(dueAt)}`
    : target
}

function targetsOfName(name: string): NonNullable<DispatchJob['targets']> {
  const space = name.indexOf(' ')
  return name.startsWith('ws_') && space > 0 ? [[name.slice(0, space), name.slice(space + 1)]] : []
}

export function dueIn(dueAt: number): string {
  return `due ${new Date(dueAt).toISOString().slice(11, 19)}Z`
}

function cohortData(tasks: readonly DueTask[]): DispatchJob {
  const targets = new Map<string, { index: number; target: readonly [workspace: string, origin: string] }>()
  const indexed = tasks.map(({ id, dueAt, workspace, origin }) => {
    if (workspace === undefined || origin === undefined || origin.length > maxOriginLength) return [id, dueAt] as const
    const key = `${workspace} ${origin}`
    const known = targets.get(key)
    if (known) return [id, dueAt, known.index] as const
    targets.set(key, { index: targets.size, target: [workspace, origin] })
    return [id, dueAt, targets.size - 1] as const
  })
  return { tasks: indexed, targets: [...targets.values()].map(({ target }) => target) }
}

// 60 bits suffice: of two jobs with the same id one is refused, and its tasks are late by seconds. BullMQ refuses numeric
// ids, hence the letter.
function jobIdOf(tasks: readonly DueTask[]): string {
  const text = tasks.map(({ id, dueAt }) => `${id} ${dueAt}`).join()
  return `t${hash('sha1', text, 'base64url').slice(0, 10)}`
}
