import { afterEach, describe, expect, it, vi } from 'vitest'
import { type MicroBatchOptions, microBatch, openBatch } from './batch.ts'

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
  const iteration = () => new Promise(resolve => setImmediate(() => setImmediate(resolve)))
  const open = async () => {
    gates.shift()?.()
    await iteration()
  }
  return { call, calls, open, iteration }
}

describe('microBatch', () => {
  it('sends an item at once when no call is in flight', async () => {
    const { call, calls, open, iteration } = recorder()
    const answer = call(1)
    await iteration()
    expect(calls).toEqual([[1]])
    await open()
    expect(await answer).toBe('answer 1')
  })

  it('combines items that arrive while a call is in flight, and gives each its own result', async () => {
    const { call, calls, open, iteration } = recorder()
    const first = call(1)
    await iteration()
    const others = [call(2), call(3), call(4)]
    await open()
    await open()
    expect(calls).toEqual([[1], [2, 3, 4]])
    expect(await Promise.all([first, ...others])).toEqual(['answer 1', 'answer 2', 'answer 3', 'answer 4'])
  })

  it('never exceeds the maximum batch size or the maximum number of calls in flight', async () => {
    const { call, calls, open, iteration } = recorder({ maxSize: 2, maxInFlight: 2 })
    const answers = [1, 2, 3, 4, 5].map(call)
    await iteration()
    await iteration()
    expect(calls).toEqual([
      [1, 2],
      [3, 4],
    ])
    for (let i = 0; i < 3; i++) await open()
    expect(await Promise.all(answers)).toHaveLength(5)
    expect(calls[2]).toEqual([5])
  })

  it('retries each half of a failed call, so only the invalid item fails', async () => {
    const { call, calls, open, iteration } = recorder({ fail: items => items.includes(2) && 'bad row' })
    const results = Promise.allSettled([1, 2, 3].map(call))
    await iteration()
    for (let i = 0; i < 5; i++) await open()
    expect((await results).map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled'])
    expect(calls).toEqual([[1, 2, 3], [1, 2], [1], [2], [3]])
  })

  it('settles the half that has succeeded while the other half is in flight', async () => {
    const { call, open, iteration } = recorder({ fail: items => items.length > 2 && 'bad row' })
    const answers: string[] = []
    for (const item of [1, 2, 3, 4]) void call(item).then(answer => answers.push(answer))
    await iteration()
    for (let i = 0; i < 2; i++) await open()
    expect(answers).toEqual(['answer 1', 'answer 2'])
    await open()
    expect(answers).toHaveLength(4)
  })

  it('fails all items together when splitting would not help', async () => {
    const { call, calls, open, iteration } = recorder({ fail: () => 'database away' })
    const results = Promise.allSettled([1, 2].map(call))
    await iteration()
    await open()
    expect((await results).map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(calls).toHaveLength(1)
  })

  it('waits for enough items after a call with many of them', async () => {
    const { call, calls, open, iteration } = recorder({ gather: [{ from: 2, enough: 4, ms: 60_000 }] })
    call(1)
    call(2)
    await iteration()
    await open()
    call(3)
    call(4)
    call(5)
    await iteration()
    expect(calls).toEqual([[1, 2]])
    call(6)
    await iteration()
    expect(calls).toEqual([
      [1, 2],
      [3, 4, 5, 6],
    ])
  })

  it('waits at most the given time, and never when it was idle or the last call had few items', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    const { call, calls, open, iteration } = recorder({ gather: [{ from: 2, enough: 8, ms: 4 }] })
    call(1)
    await iteration()
    await open()
    call(2)
    call(3)
    await iteration()
    expect(calls).toEqual([[1], [2, 3]])
    await open()
    call(4)
    await iteration()
    vi.advanceTimersByTime(3)
    await iteration()
    expect(calls).toHaveLength(2)
    vi.advanceTimersByTime(1)
    await iteration()
    expect(calls[2]).toEqual([4])
    await open()
    call(5)
    call(6)
    await iteration()
    await open()
    vi.advanceTimersByTime(4)
    call(7)
    await iteration()
    expect(calls.slice(3)).toEqual([[5, 6], [7]])
  })

  it('waits by the rule for the size of the last call', async () => {
    const few = { from: 1, enough: 2, ms: 60_000 }
    const { call, calls, open, iteration } = recorder({ gather: [few, { from: 2, enough: 3, ms: 60_000 }] })
    call(1)
    await iteration()
    await open()
    call(2)
    await iteration()
    expect(calls).toEqual([[1]])
    call(3)
    await iteration()
    expect(calls[1]).toEqual([2, 3])
    await open()
    call(4)
    call(5)
    await iteration()
    expect(calls).toHaveLength(2)
    call(6)
    await iteration()
    expect(calls[2]).toEqual([4, 5, 6])
  })
})

it('does not let an urgent item wait, nor those that leave with it', async () => {
  const calls: number[][] = []
  let end = () => {}
  const batch = openBatch<number, number>({
    maxSize: 2,
    maxInFlight: 1,
    gather: [{ from: 1, enough: 9, ms: 60_000 }],
    isUrgent: item => item < 0,
    split: () => false,
    async run(items) {
      calls.push(items)
      await new Promise<void>(resolve => (end = resolve))
      return items
    },
    settle() {},
    fail() {},
  })
  const iteration = () => new Promise(resolve => setImmediate(() => setImmediate(resolve)))
  const ended = async () => {
    end()
    await iteration()
    await iteration()
  }
  batch.push(1)
  await iteration()
  await ended()
  batch.push(2)
  batch.push(3)
  await iteration()
  expect(calls).toEqual([[1]])
  batch.push(-4)
  await iteration()
  await ended()
  expect(calls).toEqual([[1], [2, 3], [-4]])
  await ended()
  batch.push(5)
  await iteration()
  expect(calls).toHaveLength(3)
})
