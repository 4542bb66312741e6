import { describe, expect, it } from 'vitest'
import { countBursts, countOfWholeCohorts, type DueTask, tasksOf, toJobs } from './dispatch-job.ts'

const second = Date.UTC(2026, 0, 1, 12, 0, 5)
const withinBurst = () => false

function tasks(count: number, more: (i: number) => Partial<DueTask> = () => ({})): DueTask[] {
  return Array.from({ length: count }, (_, i) => ({ id: `task_${i}`, dueAt: second + i, ...more(i) }))
}

it('groups tasks due in the same second, up to a hundred in a job', () => {
  const jobs = toJobs([...tasks(250), { id: 'task_other', dueAt: second + 1000 }], second - 10_000, withinBurst)
  expect(jobs.map(({ data }) => data.tasks.length)).toEqual([100, 100, 50, 1])
  expect(jobs.flatMap(tasksOf).map(({ id }) => id)).toHaveLength(251)
})

it('starts a job 250 ms before its first task, and at once when that has passed', () => {
  const late = { id: 'task_late', dueAt: second + 900 }
  const jobs = [second - 10_000, second + 5_000].map(now => toJobs([late, ...tasks(2)], now, withinBurst)[0])
  expect(jobs.map(job => job?.opts.delay)).toEqual([9_750, 0])
})

it('names a job after its tasks', () => {
  const name = (count: number) => toJobs(tasks(count), 0, withinBurst)[0]?.name
  expect([name(1), name(100)]).toEqual(['task due 12:00:05Z', '100 tasks due 12:00:05Z'])
})

it('carries the workspace and the origin of each task in a shared job, each pair once', () => {
  const of = (i: number) => ({ workspace: `ws_${i % 2}`, origin: 'https://example.com' })
  const given = tasks(20, of)
  const [job] = toJobs(given, 0, withinBurst)
  expect(job?.data.targets).toHaveLength(2)
  expect(job && tasksOf(job)).toEqual(given)
})

it('omits targets that are unknown or too long', () => {
  const given = tasks(
    3,
    i => [{}, { workspace: 'ws_1' }, { workspace: 'ws_1', origin: `https://${'x'.repeat(99)}` }][i] ?? {},
  )
  const [job] = toJobs(given, 0, withinBurst)
  expect(job && tasksOf(job)).toEqual(tasks(3))
})

it('keeps every field of a job of one task within 64 bytes', () => {
  const task = {
    id: `task_${'0'.repeat(26)}`,
    dueAt: second,
    workspace: `ws_${'0'.repeat(26)}`,
    origin: 'https://a.example',
  }
  const [job] = toJobs([task], second - 330_000, () => true, second - 330_000)
  expect(JSON.stringify(job?.data).length).toBeLessThanOrEqual(64)
  expect(JSON.stringify({ ...job?.opts, attempts: 0 }).length).toBeLessThanOrEqual(64)
  expect(job?.name).toBe(`${task.workspace} ${task.origin}`)
  expect(job && tasksOf(job)).toEqual([task])
})

it.each([34, 35])(
  'names the target of a task that travels alone if there is room: an origin of %i characters',
  length => {
    const task = { id: 'task_a', dueAt: second, workspace: `ws_${'0'.repeat(26)}`, origin: 'x'.repeat(length) }
    const [job] = toJobs([task], 0, withinBurst)
    expect(job?.name.length).toBeLessThanOrEqual(64)
    expect(job && tasksOf(job)).toEqual(length === 34 ? [task] : [{ id: 'task_a', dueAt: second }])
  },
)

it('gives the same tasks the same id, and different tasks or times another', () => {
  const idOf = (given: DueTask[]) => toJobs(given, 0, withinBurst)[0]?.opts.jobId
  expect(idOf(tasks(3))).toBe(idOf(tasks(3)))
  const others = [tasks(1), tasks(2), tasks(3), tasks(1, () => ({ dueAt: second + 7 }))].map(idOf)
  expect(new Set(others).size).toBe(4)
})

it('lowers the priority of a job only when all its tasks belong to a workspace that exceeds its burst', () => {
  const priorityOf = (more: (i: number) => Partial<DueTask>) => toJobs(tasks(2, more), 0, () => true)[0]?.opts.priority
  expect(priorityOf(() => ({ workspace: 'ws_1' }))).toBe(1)
  expect(priorityOf(i => ({ workspace: `ws_${i}` }))).toBeUndefined()
})

it('carries the time of the database only when the clock of this machine is wrong', () => {
  const now = second - 10_000
  const timestampOf = (skewMs: number) => toJobs(tasks(1), now, withinBurst, now + skewMs)[0]?.opts.timestamp
  expect([0, 100, -100].map(timestampOf)).toEqual([undefined, undefined, undefined])
  expect([101, -101, 3_600_000].map(timestampOf)).toEqual([now, now, now])
})

it('counts the leading tasks whose jobs do not depend on later tasks', () => {
  const next = { id: 'task_next', dueAt: second + 1_000 }
  const counts = [0, 1, 99, 100, 250].map(count => countOfWholeCohorts(tasks(count)))
  expect(counts).toEqual([0, 0, 0, 100, 200])
  expect(countOfWholeCohorts([...tasks(250), next])).toBe(250)
  const idsOf = (given: DueTask[]) => toJobs(given, 0, withinBurst).map(({ opts }) => opts.jobId)
  const all = [...tasks(250), next]
  expect([...idsOf(all.slice(0, 200)), ...idsOf(all.slice(200))]).toEqual(idsOf(all))
})

describe('countBursts', () => {
  const task = (workspace: string, dueAt: number) => ({ id: 'task_1', dueAt, workspace })

  it('lets the first hundred jobs of a workspace and a second pass', () => {
    const exceedsBurst = countBursts()
    const answers = Array.from({ length: 150 }, (_, i) => exceedsBurst(task('ws_a', 5_000 + i)))
    expect(answers.filter(Boolean)).toHaveLength(50)
    expect(answers.lastIndexOf(false)).toBe(99)
    expect(exceedsBurst(task('ws_b', 5_000))).toBe(false)
    expect(exceedsBurst(task('ws_a', 6_000))).toBe(false)
  })

  it('lets tasks without a workspace pass', () => {
    const exceedsBurst = countBursts()
    const answers = Array.from({ length: 150 }, () => exceedsBurst({ id: 'task_1', dueAt: 5_000 }))
    expect(answers).not.toContain(true)
  })

  it('forgets the oldest burst when there are too many', () => {
    const exceedsBurst = countBursts()
    for (let i = 0; i < 100; i++) exceedsBurst(task('ws_a', 5_000))
    for (let i = 0; i < 10_000; i++) exceedsBurst(task(`ws_${i}`, 5_000))
    expect(exceedsBurst(task('ws_a', 5_000))).toBe(false)
  })
})
