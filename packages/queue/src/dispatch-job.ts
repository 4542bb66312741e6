import { hash } from 'node:crypto'

/**
 * A task that has to be dispatched: its id (`task_...`) and its time in epoch milliseconds. A caller that knows the
 * workspace (`ws_...`) and the origin of the target, as its URL spells it, adds them, which spares the dispatcher a query.
 */
export type DueTask = { id: string; dueAt: number; workspace?: string; origin?: string }

/**
 * What a job carries: ids and times of tasks, never what they contain. The third place of a task, where there is one,
 * says which of the job's targets is its own.
 */
export type DispatchJob = {
  tasks: ReadonlyArray<readonly [id: string, dueAt: number, target?: number]>
  targets?: ReadonlyArray<readonly [workspace: string, origin: string]>
}

/** What of a job says which tasks it stands for. */
export type ReadableJob = { name: string; data: DispatchJob }

/** A job as BullMQ takes it. */
export type NewJob = {
  name: string
  data: DispatchJob
  opts: { jobId: string; delay: number; timestamp?: number; priority?: number }
}

/**
 * How far this machine's clock may be from the database's before it counts. Less than the lead of a job minus BullMQ's own
 * lateness.
 */
export const toleratedSkewMs = 100

/**
 * Jobs start this much ahead of their tasks; the dispatcher waits out the rest. It hides BullMQ's own lateness, which
 * is 30 to 110 ms for delayed jobs.
 */
export const leadMs = 250

const cohortSize = 100
const longestOrigin = 80
const longestField = 64

/**
 * Writes tasks as jobs: those that are due in the same second travel together, up to 100 in one job. The same tasks make
 * the same jobs with the same ids, so the store refuses what it has already.
 *
 * A job's time is its timestamp plus its delay. BullMQ takes the timestamp from this machine's clock. Where that is wrong,
 * the job carries the database's time instead. It costs memory, so other jobs do not carry it.
 * @param now - The database's clock in epoch milliseconds.
 * @param isCrowded - Whether one more job of a task's workspace has to let others go first.
 * @param localNow - This machine's clock. Default: as it is now.
 */
export function toJobs(
  tasks: readonly DueTask[],
  now: number,
  isCrowded: (task: DueTask) => boolean,
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
      jobs.push(toJob(together.slice(i, i + cohortSize), clock, isCrowded))
    }
    return jobs
  })
}

/**
 * Counts the tasks at the beginning of a list, in order of time, of which `toJobs` makes the same jobs whatever follows
 * them: without the last job of the last second, unless that is full.
 */
export function countOfWholeCohorts(tasks: readonly DueTask[]): number {
  const secondOf = (task: DueTask | undefined) => (task === undefined ? null : Math.floor(task.dueAt / 1000))
  const last = secondOf(tasks.at(-1))
  let ofLast = 0
  while (ofLast < tasks.length && secondOf(tasks.at(-1 - ofLast)) === last) ofLast++
  return tasks.length - (ofLast % cohortSize)
}

/** Reads the tasks of a job. */
export function tasksOf({ name, data: { tasks, targets = targetsOfName(name) } }: ReadableJob): DueTask[] {
  return tasks.map(([id, dueAt, target]) => {
    const [workspace, origin] = targets[target ?? (tasks.length === 1 ? 0 : -1)] ?? []
    return workspace === undefined || origin === undefined ? { id, dueAt } : { id, dueAt, workspace, origin }
  })
}

// Redis keeps a job in some 500 bytes as long as none of its fields is longer than 64, and in twice that otherwise. So a task
// that travels alone has a short id, and says its target in the job's name, if that is short enough; one of many costs
// some 100 bytes in any case.
function toJob(
  tasks: readonly DueTask[],
  { now, timestamp }: { now: number; timestamp: { timestamp?: number } },
  isCrowded: (task: DueTask) => boolean,
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
      ...(first && isOfOne && isCrowded(first) ? { priority: 1 } : {}),
    },
  }
}

function nameOfOne({ dueAt, workspace, origin }: DueTask): string {
  const target = `${workspace} ${origin}`
  return workspace === undefined || origin === undefined || target.length > longestField
    ? `task ${dueIn(dueAt)}`
    : target
}

function targetsOfName(name: string): NonNullable<DispatchJob['targets']> {
  const space = name.indexOf(' ')
  return name.startsWith('ws_') && space > 0 ? [[name.slice(0, space), name.slice(space + 1)]] : []
}

/** When a task is due, in words. */
export function dueIn(dueAt: number): string {
  return `due ${new Date(dueAt).toISOString().slice(11, 19)}Z`
}

function cohortData(tasks: readonly DueTask[]): DispatchJob {
  const targets = new Map<string, { index: number; target: readonly [workspace: string, origin: string] }>()
  const indexed = tasks.map(({ id, dueAt, workspace, origin }) => {
    if (workspace === undefined || origin === undefined || origin.length > longestOrigin) return [id, dueAt] as const
    const key = `${workspace} ${origin}`
    const known = targets.get(key)
    if (known) return [id, dueAt, known.index] as const
    targets.set(key, { index: targets.size, target: [workspace, origin] })
    return [id, dueAt, targets.size - 1] as const
  })
  return { tasks: indexed, targets: [...targets.values()].map(({ target }) => target) }
}

// 60 bits tell jobs apart well enough: of two jobs with the same id one is refused, and its tasks are late by seconds. The
// letter is there because BullMQ refuses ids that are numbers.
function jobIdOf(tasks: readonly DueTask[]): string {
  const text = tasks.map(({ id, dueAt }) => `${id} ${dueAt}`).join()
  return `t${hash('sha1', text, 'base64url').slice(0, 10)}`
}
