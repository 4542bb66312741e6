import { expect, it } from 'vitest'
import { inHashingSlot } from './password.ts'

it('hashes two passwords at a time, lets 200 wait in order, and refuses the rest', async () => {
  const ends: Array<() => void> = []
  const started: number[] = []
  const results = Array.from({ length: 203 }, (_, i) =>
    inHashingSlot('192.0.2.1', async () => {
      started.push(i)
      await new Promise<void>(resolve => ends.push(resolve))
      if (i === 1) throw new Error('broken')
      return i
    }).catch(error => error.code ?? error.message),
  )
  expect(await results[202]).toBe('rate_limited')
  expect(started).toEqual([0, 1])
  for (let i = 0; i < 202; i++) {
    ends[i]?.()
    await results[i]
    await new Promise(resolve => setImmediate(resolve))
    expect(started.length).toBe(Math.min(202, i + 3))
  }
  const indexes = Array.from({ length: 202 }, (_, i) => i)
  expect(await Promise.all(results)).toEqual([0, 'broken', ...indexes.slice(2), 'rate_limited'])
  expect(started).toEqual(indexes)
})

it('serves networks round-robin, and refuses the latest of the network that waits most', async () => {
  const ends: Array<() => void> = []
  const started: string[] = []
  const results: Array<Promise<string>> = []
  const begin = (address: string) => {
    const work = async () => {
      started.push(address)
      await new Promise<void>(resolve => ends.push(resolve))
      return 'hashed'
    }
    results.push(inHashingSlot(address, work).catch(error => error.code))
  }
  for (let i = 0; i < 202; i++) begin('192.0.2.1')
  for (const address of ['2001:db8:1:1::1', '2001:db8:1:2::1', '198.51.100.1']) begin(address)
  expect(await Promise.all(results.slice(199, 202))).toEqual(['rate_limited', 'rate_limited', 'rate_limited'])
  for (let i = 0; i < 202; i++) {
    await expect.poll(() => ends.length).toBeGreaterThan(i)
    ends[i]?.()
  }
  const outcomes = await Promise.all(results)
  expect(outcomes.filter(outcome => outcome === 'hashed')).toHaveLength(202)
  const [own, network] = ['192.0.2.1', '2001:db8:1:1::1']
  expect(started.slice(0, 7)).toEqual([own, own, own, network, '198.51.100.1', own, '2001:db8:1:2::1'])
})
