import { afterEach, describe, expect, it, vi } from 'vitest'
import { type MicroBatchOptions, microBatch } from './micro-batch.ts'

afterEach(() => void vi.useRealTimers())

type Options = Pick<MicroBatchOptions<number, string>, 'gather'> & {
  maxSize?: number
  maxInFlight?: number
  fail?: (items: number[]) => unknown
}

function recorder(options: Options = {}) {
  const calls: number[][] = []
  const gates: Array<() => void> = []
  const call = microBatch<number, string>({
    maxSize: options.maxSize ?? 100,
    maxInFlight: options.maxInFlight ?? 1,
    ...(options.gather ? { gather: options.gather } : {}),
    split: error => error === 'bad row',
    async run(items) {
      calls.push(items)
      await new Promise<void>(resolve => gates.push(resolve))
      const failure = options.fail?.(items)
      if (failure) throw failure
      return items.map(item => `answer ${item}`)
    },
  })
  const turn = () => new Promise(resolve => setImmediate(() => setImmediate(resolve)))
  const open = async () => {
    gates.shift()?.()
    await turn()
  }
  return { call, calls, open, turn }
}

describe('microBatch', () => {
  it('sends an item at once when nothing is under way', async () => {
    const { call, calls, open, turn } = recorder()
    const answer = call(1)
    await turn()
    expect(calls).toEqual([[1]])
    await open()
    expect(await answer).toBe('answer 1')
  })

  it('gathers what arrives while a call is under way and gives each its own answer', async () => {
    const { call, calls, open, turn } = recorder()
    const first = call(1)
    await turn()
    const others = [call(2), call(3), call(4)]
    expect(call.pending).toBe(4)
    await open()
    await open()
    expect(calls).toEqual([[1], [2, 3, 4]])
    expect(await Promise.all([first, ...others])).toEqual(['answer 1', 'answer 2', 'answer 3', 'answer 4'])
    expect(call.pending).toBe(0)
  })

  it('never exceeds the size of a batch or the number of calls under way', async () => {
    const { call, calls, open, turn } = recorder({ maxSize: 2, maxInFlight: 2 })
    const answers = [1, 2, 3, 4, 5].map(call)
    await turn()
    await turn()
    expect(calls).toEqual([
      [1, 2],
      [3, 4],
    ])
    for (let i = 0; i < 3; i++) await open()
    expect(await Promise.all(answers)).toHaveLength(5)
    expect(calls[2]).toEqual([5])
  })

  it('tries each half of a failed call, so that only the bad item fails', async () => {
    const { call, calls, open, turn } = recorder({ fail: items => items.includes(2) && 'bad row' })
    const results = Promise.allSettled([1, 2, 3].map(call))
    await turn()
    for (let i = 0; i < 5; i++) await open()
    expect((await results).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(calls).toEqual([[1, 2, 3], [1, 2], [1], [2], [3]])
  })

  it('answers the half that has succeeded while the other half is in flight', async () => {
    const { call, open, turn } = recorder({ fail: items => items.length > 2 && 'bad row' })
    const answers: string[] = []
    for (const item of [1, 2, 3, 4]) void call(item).then(answer => answers.push(answer))
    await turn()
    for (let i = 0; i < 2; i++) await open()
    expect(answers).toEqual(['answer 1', 'answer 2'])
    await open()
    expect(answers).toHaveLength(4)
  })

  it('fails all items together when splitting would not help', async () => {
    const { call, calls, open, turn } = recorder({ fail: () => 'database away' })
    const results = Promise.allSettled([1, 2].map(call))
    await turn()
    await open()
    expect((await results).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(calls).toHaveLength(1)
  })

  it('waits for enough items once a call with many of them has ended, until then or so long that nobody is late', async () => {
    const { call, calls, open, turn } = recorder({ gather: { from: 2, enough: 4, ms: 60_000 } })
    call(1)
    call(2)
    await turn()
    await open()
    call(3)
    call(4)
    call(5)
    await turn()
    expect(calls).toEqual([[1, 2]])
    call(6)
    await turn()
    expect(calls).toEqual([
      [1, 2],
      [3, 4, 5, 6],
    ])
  })

  it('waits no longer than it was told to, and never when it was idle or the last call had few items', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const { call, calls, open, turn } = recorder({ gather: { from: 2, enough: 8, ms: 4 } })
    call(1)
    await turn()
    await open()
    call(2)
    call(3)
    await turn()
    expect(calls).toEqual([[1], [2, 3]])
    await open()
    call(4)
    await turn()
    vi.advanceTimersByTime(3)
    await turn()
    expect(calls).toHaveLength(2)
    vi.advanceTimersByTime(1)
    await turn()
    expect(calls[2]).toEqual([4])
    await open()
    call(5)
    call(6)
    await turn()
    await open()
    vi.advanceTimersByTime(4)
    call(7)
    await turn()
    expect(calls.slice(3)).toEqual([[5, 6], [7]])
  })
})
