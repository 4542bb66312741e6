import { describe, expect, it } from 'vitest'
import { insertTasks } from '../src/tasks/insert-tasks.ts'
import { aTask, taskRow, useDatabase } from './setup.ts'

const db = useDatabase()

describe('insertTasks', () => {
  it('stores tasks with their requests, and each byte of the payload', async () => {
    const executeAt = new Date(Date.now() + 60_000)
    const tasks = Array.from({ length: 5 }, (_, i) =>
      aTask({ executeAt, payload: `{"i": ${i}, "b": 1.10, "a": "😀"}` }),
    )
    const inserted = await insertTasks(db.pool, tasks)
    expect(inserted.map(({ id }) => id).sort()).toEqual(tasks.map(({ id }) => id).sort())
    for (const task of tasks) {
      const row = await taskRow(db.pool, task.id)
      expect(row).toMatchObject({ state: 'pending', attempts: 0, payload: task.payload, url: task.url })
      expect(row.execute_at).toEqual(executeAt)
      expect(row.due_at).toEqual(executeAt)
    }
  })

  it('stores any number of tasks, all of them or none', async () => {
    const tasks = Array.from({ length: 300 }, () => aTask())
    expect(await insertTasks(db.pool, tasks)).toHaveLength(300)
    const [first, ...fresh] = [tasks[0] ?? aTask(), ...Array.from({ length: 300 }, () => aTask())]
    await expect(insertTasks(db.pool, [...fresh, first])).rejects.toThrow('duplicate key')
    for (const task of [fresh[0], fresh[299]]) expect(await taskRow(db.pool, task?.id ?? '')).toBeUndefined()
  })

  it('leaves out a task whose time is past or now, and stores the others (spec 7, rule 1)', async () => {
    const past = aTask({ executeAt: new Date(Date.now() - 1) })
    const future = aTask({ executeAt: new Date(Date.now() + 60_000) })
    const inserted = new Map((await insertTasks(db.pool, [past, future])).map(row => [row.id, row]))
    expect(inserted.get(past.id)?.createdAt).toBeNull()
    expect(inserted.get(future.id)?.createdAt).toBeInstanceOf(Date)
    expect(await taskRow(db.pool, past.id)).toBeUndefined()
  })

  it('uses the clock of the database for a task without a time', async () => {
    // Repeated, because the clock may be anywhere within a millisecond.
    for (let i = 0; i < 50; i++) {
      const [row] = await insertTasks(db.pool, [aTask({ executeAt: null })])
      expect(row?.executeAt.getTime()).toBeLessThanOrEqual(row?.now.getTime() ?? 0)
    }
  })
})
