import { describe, expect, it } from 'vitest'
import { createRooms } from './rooms.ts'

const limited = { figure: 'pendingTasks', workspaceId: 'w' } as const

function roomsOf(present: () => number, holdsConnection = false) {
  let time = 0
  let counts = 0
  const count = async () => {
    counts++
    return present()
  }
  const rooms = createRooms<'pendingTasks'>(() => time)
  const letIn = <T>(create: () => Promise<T>, wanted = 1, limit = 10_000) => {
    const creation = { wanted, create, createUnderLock: async () => 'counted' }
    return rooms.enter<T | string>({ ...limited, limit }, { count, holdsConnection }, creation)
  }
  return { letIn, counts: () => counts, pass: (ms: number) => (time += ms) }
}

describe('far from the limit', () => {
  it('counts once for many creations, also at the same moment, and anew when its share is used up', async () => {
    let present = 0
    const { letIn, counts } = roomsOf(() => present)
    const create = async () => ++present
    await Promise.all(Array.from({ length: 1_000 }, () => letIn(create)))
    expect([present, counts()]).toEqual([1_000, 1])
    for (let i = 0; i < 1_000; i++) expect(await letIn(create)).toBe(present)
    expect([present, counts()]).toEqual([2_000, 2])
  })

  it('does not wait for the count that takes the place of an old one', async () => {
    let isAway = false
    const { letIn, counts, pass } = roomsOf(() => {
      if (isAway) throw new Error('away')
      return 0
    })
    await letIn(async () => 'first')
    pass(2_000)
    isAway = true
    expect(await letIn(async () => 'second')).toBe('second')
    expect(counts()).toBe(2)
  })

  it('tells whoever waits for it that it could not count', async () => {
    const { letIn } = roomsOf(() => {
      throw new Error('away')
    })
    await expect(letIn(async () => 'never')).rejects.toThrow('away')
  })

  it('counts anew when the limit is another one', async () => {
    const { letIn } = roomsOf(() => 5_000)
    expect(await letIn(async () => 'in')).toBe('in')
    expect(await letIn(async () => 'in', 1, 5_000)).toBe('counted')
  })
})

describe('near the limit', () => {
  it('lets nobody in, and counts no more often than every two seconds', async () => {
    let present = 9_601
    const { letIn, counts, pass } = roomsOf(() => present)
    const create = async () => 'in'
    expect([await letIn(create), await letIn(create)]).toEqual(['counted', 'counted'])
    expect(counts()).toBe(1)
    present = 9_600
    pass(2_000)
    expect(await letIn(create)).toBe('in')
    expect(counts()).toBe(2)
  })

  it('takes what is not stored yet for stored, and has it stored before it counts under the lock', async () => {
    const { letIn, pass } = roomsOf(() => 9_000)
    let finish = () => {}
    const slow = new Promise<void>(resolve => {
      finish = resolve
    })
    const first = letIn(() => slow, 100)
    await new Promise(resolve => setImmediate(resolve))
    pass(2_000)
    let isCounted = false
    const second = letIn(async () => 'in', 113).then(answer => {
      isCounted = true
      return answer
    })
    await new Promise(resolve => setImmediate(resolve))
    expect(isCounted).toBe(false)
    finish()
    expect([await first, await second]).toEqual([undefined, 'counted'])
    expect(await letIn(async () => 'in', 113)).toBe('in')
  })

  it('waits under the lock for all that are under way, whichever of the others have ended', async () => {
    const { letIn } = roomsOf(() => 9_000)
    const ends: Array<() => void> = []
    const slow = () => new Promise<void>(resolve => ends.push(resolve))
    const turn = () => new Promise(resolve => setImmediate(resolve))
    const all = Array.from({ length: 4 }, () => letIn(slow, 25))
    await turn()
    for (const index of [1, 0, 3]) {
      ends[index]?.()
      await turn()
    }
    let isCounted = false
    const second = letIn(async () => 'in', 1_000).then(() => {
      isCounted = true
    })
    await turn()
    expect(isCounted).toBe(false)
    ends[2]?.()
    await Promise.all([...all, second])
    expect(isCounted).toBe(true)
  })
})

it('has whoever holds a connection count by themselves: they wait for nobody', async () => {
  const { letIn, counts } = roomsOf(() => 0, true)
  await Promise.all([letIn(async () => 'first'), letIn(async () => 'second')])
  expect(counts()).toBe(2)
})
