import type { Run, RunPage } from '@belfry/contract/run'
import { describe, expect, it } from 'vitest'
import { maxArrived, maxPages, RunLog } from './run-log.ts'

const idOf = (age: number) => `run_${String(1_000_000 - age).padStart(8, '0')}`
const aRun = (age: number): Run => ({ id: idOf(age) }) as Run

/** Returns a log with `count` runs, and the cursors that it has requested. */
function aLog(count: number, isDown = () => false) {
  const asked: Array<string | undefined> = []
  const readPage = async (cursor: string | undefined): Promise<RunPage> => {
    asked.push(cursor)
    if (isDown()) throw new Error('down')
    const from = Number(cursor ?? 0)
    const data = Array.from({ length: Math.min(100, count - from) }, (_, index) => aRun(from + index))
    return { data, next_cursor: from + 100 < count ? String(from + 100) : null, from_storage: from >= 300 }
  }
  return { asked, log: new RunLog(readPage) }
}

const settled = async () => {
  for (let tick = 0; tick < 50; tick++) await Promise.resolve()
}

describe('a log that is scrolled', () => {
  it('reads as far as the view needs, and keeps only the runs near it', async () => {
    const { asked, log } = aLog(5000)
    await log.readMore()
    await settled()
    expect(log.snapshot()).toMatchObject({ rowCount: 100, state: 'idle', isFromStorage: false })
    for (let last = 0; last < 4000; last += 50) {
      log.setVisible(last - 20, last)
      await settled()
    }
    expect(log.snapshot().rowCount).toBeGreaterThan(4000)
    expect(log.snapshot().isFromStorage).toBe(true)
    expect(new Set(asked).size).toBe(asked.length)
    const kept = Array.from({ length: log.snapshot().rowCount }, (_, index) => log.snapshot().runAt(index))
    expect(kept.filter(Boolean).length).toBeLessThanOrEqual(1000)
    expect(log.snapshot().runAt(3940)?.id).toBe(idOf(3940))
    log.setVisible(1500, 1530)
    expect(log.snapshot().runAt(1510)).toBeUndefined()
    await settled()
    expect(log.snapshot().runAt(1510)?.id).toBe(idOf(1510))
  })

  it('reaches its end', async () => {
    const { log } = aLog(120)
    await log.readMore()
    log.setVisible(70, 99)
    await settled()
    expect(log.snapshot()).toMatchObject({ rowCount: 120, state: 'end' })
  })

  it('stops at the maximum number of pages', async () => {
    const rows = maxPages * 100
    const { log } = aLog(rows + 100)
    await log.readMore()
    for (let last = 100; last <= rows; last += 100) {
      log.setVisible(last - 20, last)
      await settled()
    }
    expect(log.snapshot()).toMatchObject({ rowCount: rows, state: 'full' })
  })

  it('continues after empty pages, and stops after many of them', async () => {
    let read = 0
    const readPage = async () => {
      read += 1
      return { data: read === 15 ? [aRun(1)] : [], next_cursor: read === 15 ? null : String(read), from_storage: false }
    }
    const log = new RunLog(readPage)
    await log.readMore()
    await settled()
    expect([read, log.snapshot().state]).toEqual([10, 'stopped'])
    void log.readMore()
    await settled()
    expect(log.snapshot()).toMatchObject({ rowCount: 1, state: 'end' })
  })

  it('reports a failure, and continues from there', async () => {
    let isDown = true
    const readPage = async () => {
      if (isDown) throw new Error('down')
      return { data: [aRun(1)], next_cursor: null, from_storage: false }
    }
    const log = new RunLog(readPage)
    await log.readMore()
    expect(log.snapshot().state).toBe('failed')
    isDown = false
    void log.readMore()
    await settled()
    expect(log.snapshot()).toMatchObject({ rowCount: 1, state: 'end', error: null })
  })

  it('reads a dropped page again after a failure at the end, and no run twice', async () => {
    let isDown = false
    const { log, asked } = aLog(1000, () => isDown)
    await log.readMore()
    for (let last = 0; last < 1000; last += 50) {
      log.setVisible(last - 20, last)
      await settled()
    }
    log.setVisible(970, 999)
    await settled()
    expect(log.snapshot()).toMatchObject({ rowCount: 1000, state: 'end' })
    isDown = true
    log.setVisible(100, 130)
    await settled()
    expect(log.snapshot().state).toBe('failed')
    isDown = false
    asked.length = 0
    void log.readMore()
    await settled()
    expect(log.snapshot()).toMatchObject({ rowCount: 1000, state: 'end', error: null })
    expect(log.snapshot().runAt(110)?.id).toBe(idOf(110))
    expect(asked).not.toContain(undefined)
  })
})

describe('new runs of a log', () => {
  /** Returns a log whose third page has the first match. */
  const aSparseLog = () => {
    let read = 0
    const readPage = async () => {
      read += 1
      return { data: read === 3 ? [aRun(5)] : [], next_cursor: String(read), from_storage: false }
    }
    return new RunLog(readPage)
  }

  it('appear above pages without a match', async () => {
    const log = aSparseLog()
    await log.readMore()
    await settled()
    log.add([aRun(-1)])
    expect([0, 1].map(index => log.snapshot().runAt(index)?.id)).toEqual([-1, 5].map(idOf))
  })

  it('appear while no page has a match, in any order', async () => {
    const log = aSparseLog()
    await log.readMore()
    log.add([aRun(-2)])
    log.add([aRun(-1)])
    log.add([aRun(-3)])
    await settled()
    const { runAt } = log.snapshot()
    expect([0, 1, 2, 3].map(index => runAt(index)?.id)).toEqual([-3, -2, -1, 5].map(idOf))
  })

  it('are inserted at the top, each once', async () => {
    const { log } = aLog(150)
    await log.readMore()
    log.add([-1, -3, -2, -3, 0, 5].map(aRun))
    const { rowCount, runAt } = log.snapshot()
    expect(rowCount).toBe(103)
    expect([0, 1, 2, 3].map(index => runAt(index)?.id)).toEqual([-3, -2, -1, 0].map(idOf))
  })

  it('wait while they are held back', async () => {
    const { log } = aLog(10)
    await log.readMore()
    log.setHeld(true)
    log.add([aRun(-1)])
    expect(log.snapshot()).toMatchObject({ rowCount: 10, waiting: 1 })
    log.setHeld(false)
    expect(log.snapshot()).toMatchObject({ rowCount: 11, waiting: 0 })
  })

  it('cause a reload when there are too many', async () => {
    const { asked, log } = aLog(10)
    await log.readMore()
    for (let age = 1; age <= maxArrived + 1; age++) log.add([aRun(-age)])
    await settled()
    expect(asked).toHaveLength(2)
    expect(log.snapshot().rowCount).toBe(10)
  })
})
