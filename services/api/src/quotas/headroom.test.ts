import { describe, expect, it } from 'vitest'
import { createHeadrooms } from './headroom.ts'

const request = { objects: 'pendingTasks', workspaceId: 'w' } as const

function headroomsOf(present: () => number, holdsConnection = false) {
  let time = 0
  let counts = 0
  const count = async () => {
    counts++
    return present()
  }
  const headrooms = createHeadrooms(() => time)
  const run = <T>(create: () => Promise<T>, wanted = 1, limit = 10_000) => {
    const creation = { count, holdsConnection, create, createUnderLock: async () => 'counted' }
    return headrooms.run<T | string>({ ...request, limit, wanted }, creation)
  }
  return { run, counts: () => counts, pass: (ms: number) => (time += ms) }
}

describe('far from the limit', () => {
  it('counts once for many creations, also concurrent ones, and again when the reserved share is used up', async () => {
    let present = 0
    const { run, counts } = headroomsOf(() => present)
    const create = async () => ++present
    await Promise.all(Array.from({ length: 1_000 }, () => run(create)))
    expect([present, counts()]).toEqual([1_000, 1])
    for (let i = 0; i < 1_000; i++) expect(await run(create)).toBe(present)
    expect([present, counts()]).toEqual([2_000, 2])
  })

  it('does not wait for the count that replaces an old one', async () => {
    let isAway = false
    const { run, counts, pass } = headroomsOf(() => {
      if (isAway) throw new Error('away')
      return 0
    })
    await run(async () => 'first')
    pass(2_000)
    isAway = true
    expect(await run(async () => 'second')).toBe('second')
    expect(counts()).toBe(2)
  })

  it('rejects the creations that wait for a count that fails', async () => {
    const { run } = headroomsOf(() => {
      throw new Error('away')
    })
    await expect(run(async () => 'never')).rejects.toThrow('away')
  })

  it('counts again when the limit has changed', async () => {
    const { run } = headroomsOf(() => 5_000)
    expect(await run(async () => 'in')).toBe('in')
    expect(await run(async () => 'in', 1, 5_000)).toBe('counted')
  })
})

describe('near the limit', () => {
  it('has each creation count under the lock, and counts for itself every two seconds at most', async () => {
    let present = 9_601
    const { run, counts, pass } = headroomsOf(() => present)
    const create = async () => 'in'
    expect([await run(create), await run(create)]).toEqual(['counted', 'counted'])
    expect(counts()).toBe(1)
    present = 9_600
    pass(2_000)
    expect(await run(create)).toBe('in')
    expect(counts()).toBe(2)
  })

  it('counts objects in flight as stored, and waits for them before it counts under the lock', async () => {
    const { run, pass } = headroomsOf(() => 9_000)
    let finish = () => {}
    const slow = new Promise<void>(resolve => {
      finish = resolve
    })
    const first = run(() => slow, 100)
    await new Promise(resolve => setImmediate(resolve))
    pass(2_000)
    let isCounted = false
    const second = run(async () => 'in', 113).then(answer => {
      isCounted = true
      return answer
    })
    await new Promise(resolve => setImmediate(resolve))
    expect(isCounted).toBe(false)
    finish()
    expect([await first, await second]).toEqual([undefined, 'counted'])
    expect(await run(async () => 'in', 113)).toBe('in')
  })

  it('waits for all creations in flight before it counts under the lock, whichever of them end first', async () => {
    const { run } = headroomsOf(() => 9_000)
    const ends: Array<() => void> = []
    const slow = () => new Promise<void>(resolve => ends.push(resolve))
    const nextIteration = () => new Promise(resolve => setImmediate(resolve))
    await run(async () => {}, 25) // ends before the others begin
    const all = Array.from({ length: 4 }, () => run(slow, 25))
    await nextIteration()
    for (const index of [1, 0, 3]) {
      ends[index]?.()
      await nextIteration()
    }
    let counted = 0
    const large = async () => {
      await run(async () => 'in', 1_000)
      counted++
    }
    const waiting = [large()]
    await nextIteration()
    waiting.push(large())
    await nextIteration()
    expect(counted).toBe(0)
    ends[2]?.()
    await Promise.all([...all, ...waiting])
    expect(counted).toBe(2)
  })

  it('waits for the creations in flight only, not for those that begin later', async () => {
    const { run } = headroomsOf(() => 5_000)
    const ends: Array<() => void> = []
    const slow = () => run(() => new Promise<void>(resolve => ends.push(resolve)))
    const begun = () => new Promise(resolve => setImmediate(resolve))
    const creations = [slow()]
    await begun()
    const batch = run(async () => 'in', 1_000)
    for (let i = 0; i < 20; i++) {
      creations.push(slow())
      await begun()
      ends.shift()?.()
      await begun()
    }
    expect(ends).toHaveLength(1)
    expect(await Promise.race([batch, begun()])).toBe('counted')
    ends[0]?.()
    await Promise.all(creations)
  })
})

it('has a caller that holds a connection count for itself, without waiting for other creations', async () => {
  const { run, counts } = headroomsOf(() => 0, true)
  await Promise.all([run(async () => 'first'), run(async () => 'second')])
  expect(counts()).toBe(2)
})
