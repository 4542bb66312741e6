import { expect, it } from 'vitest'
import { type DueTask, toJobs } from '../dispatch-job.ts'
import { describeJob, titleOf } from './open-board-queues.ts'

it('describes the tasks of a cohort with their due times and targets', () => {
  const dueAt = Date.UTC(2027, 0, 1, 12)
  const due = [
    { id: 'task_a', dueAt, workspace: 'ws_1', origin: 'https://a.example' },
    { id: 'task_b', dueAt: dueAt + 20, workspace: 'ws_2', origin: 'https://b.example' },
  ]
  const [job] = toJobs(due, dueAt - 60_000, () => false)
  expect(describeJob(job?.data ?? { tasks: [] })).toEqual({
    count: 2,
    tasks: [
      { task: 'task_a', due_at: '2027-01-01T12:00:00.000Z', workspace: 'ws_1', target: 'https://a.example' },
      { task: 'task_b', due_at: '2027-01-01T12:00:00.020Z', workspace: 'ws_2', target: 'https://b.example' },
    ],
  })
})

it('describes the task of a job of one from its data', () => {
  expect(describeJob({ tasks: [['task_a', 0]] })).toEqual({
    count: 1,
    tasks: [{ task: 'task_a', due_at: '1970-01-01T00:00:00.000Z' }],
  })
})

it('titles a job of one task with its workspace and target', () => {
  const task = { id: 'task_a', dueAt: 0, workspace: 'ws_1', origin: 'https://a.example' }
  const titleFor = (tasks: DueTask[]) => toJobs(tasks, 0, () => false).map(titleOf)
  expect(titleFor([task])).toEqual(['task due 00:00:00Z, ws_1 to https://a.example'])
  expect(titleFor([{ id: 'task_a', dueAt: 0 }])).toEqual(['task due 00:00:00Z'])
  expect(titleFor([task, { ...task, id: 'task_b' }])).toEqual(['2 tasks due 00:00:00Z'])
})
