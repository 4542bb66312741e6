import { describe, expect, it } from 'vitest'
import { scheduleOrStepBack, type WaitingRow, withPromotion } from '../src/tasks/due-work.ts'
import { insertTasks } from '../src/tasks/insert-tasks.ts'
import { aTask, useDatabase } from './setup.ts'

const db = useDatabase()

async function collect(pages: AsyncIterable<Array<{ id: string }>>): Promise<string[]> {
  const ids: string[] = []
  for await (const page of pages) ids.push(...page.map(({ id }) => id))
  return ids
}

describe('withPromotion', () => {
  it('reads the waiting tasks of a window in order of time, over many pages, and stores the new watermark', async () => {
    const base = Date.now() + 3_600_000
    const tasks = Array.from({ length: 2_500 }, (_, i) => aTask({ executeAt: new Date(base + (i % 7) * 1000) }))
    for (let i = 0; i < tasks.length; i += 500) await insertTasks(db.pool, tasks.slice(i, i + 500))
    const seen: string[] = []
    const until = new Date(base + 3_000)
    await withPromotion(db.pool, async turn => {
      seen.push(...(await collect(turn.waiting(new Date(base), until))))
      return { watermark: until, marker: 'one' }
    })
    const expected = tasks.filter(task => (task.executeAt as Date) < until).map(({ id }) => id)
    expect(seen.sort()).toEqual(expected.sort())
    await withPromotion(db.pool, async turn => {
      expect([turn.watermark, turn.marker]).toEqual([until, 'one'])
      return turn
    })
  })

  it('reads thousands of tasks with the same due time, each once, with workspace and origin', async () => {
    const at = new Date(Date.now() + 7_200_000)
    const tasks = Array.from({ length: 2_100 }, () => aTask({ executeAt: at, url: 'https://Example.com:8443?x=/' }))
    for (let i = 0; i < tasks.length; i += 700) await insertTasks(db.pool, tasks.slice(i, i + 700))
    await withPromotion(db.pool, async turn => {
      const seen: WaitingRow[] = []
      for await (const page of turn.waiting(at, new Date(at.getTime() + 1))) seen.push(...page)
      expect(seen.map(({ id }) => id)).toEqual(tasks.map(({ id }) => id).sort())
      const first = tasks.find(({ id }) => id === seen[0]?.id)
      expect(seen[0]).toMatchObject({ workspaceId: first?.workspaceId, origin: 'https://Example.com:8443' })
      return turn
    })
  })

  it('lets one scheduler at a time promote, without blocking the others', async () => {
    let begin = () => {}
    const begun = new Promise<void>(resolve => {
      begin = resolve
    })
    let finish = () => {}
    const first = withPromotion(db.pool, async turn => {
      begin()
      await new Promise<void>(resolve => {
        finish = resolve
      })
      return turn
    })
    await begun
    expect(await withPromotion(db.pool, async turn => turn)).toBe(false)
    finish()
    expect(await first).toBe(true)
  })

  it('stores nothing of a failed round', async () => {
    const before = { watermark: new Date(Date.now() + 3_600_000), marker: 'before' }
    await withPromotion(db.pool, async () => before)
    const failing = withPromotion(db.pool, () => Promise.reject(new Error('queue away')))
    await expect(failing).rejects.toThrow('queue away')
    await withPromotion(db.pool, async turn => {
      expect(turn).toMatchObject(before)
      return turn
    })
  })

  it('starts a minute back after a step back, and a step back never moves forward', async () => {
    const away = new Error('queue away')
    const failures: unknown[] = []
    const stepBack = () =>
      scheduleOrStepBack(
        db.pool,
        () => Promise.reject(away),
        error => failures.push(error),
      )
    await stepBack()
    await withPromotion(db.pool, async turn => {
      expect(turn.watermark.getTime()).toBeLessThanOrEqual(turn.now.getTime())
      return { watermark: new Date(0), marker: 'two' }
    })
    await stepBack()
    expect(failures).toEqual([away, away])
    await withPromotion(db.pool, async turn => {
      expect(turn.watermark).toEqual(new Date(0))
      return turn
    })
  })
})
