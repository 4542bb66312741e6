import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createWorkspaceCache } from './workspace-cache.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  vi.advanceTimersByTime(1) // lru-cache takes the time 0 for none
})
afterEach(() => {
  vi.useRealTimers()
})

it('asks once for each workspace in five seconds, and for many in one statement', async () => {
  const load = vi.fn(async (ids: string[]) => new Map(ids.map(id => [id, `of ${id}`])))
  const cache = createWorkspaceCache(load)
  expect(await Promise.all([cache.get('a'), cache.get('b'), cache.get('a')])).toEqual(['of a', 'of b', 'of a'])
  expect(load.mock.calls).toEqual([[['a', 'b']]])
  vi.advanceTimersByTime(5_000)
  await cache.get('a')
  expect(load).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(1)
  expect(await cache.get('a')).toBe('of a')
  expect(load).toHaveBeenCalledTimes(2)
})

it('remembers that there is no such workspace, but no failure', async () => {
  const load = vi.fn(async () => new Map<string, string>())
  const cache = createWorkspaceCache(load)
  expect([await cache.get('a'), await cache.get('a')]).toEqual([undefined, undefined])
  expect(load).toHaveBeenCalledTimes(1)
  load.mockRejectedValueOnce(new Error('away'))
  await expect(cache.get('b')).rejects.toThrow('away')
  expect(await cache.get('b')).toBeUndefined()
})

it('loads anew when asked to, and keeps that for five seconds', async () => {
  let version = 0
  const cache = createWorkspaceCache(async ids => new Map(ids.map(id => [id, `${id}${++version}`])))
  expect(await cache.get('a')).toBe('a1')
  vi.advanceTimersByTime(3_000)
  expect(await cache.reload('a')).toBe('a2')
  vi.advanceTimersByTime(5_000)
  expect(await cache.get('a')).toBe('a2')
  vi.advanceTimersByTime(1)
  expect(await cache.get('a')).toBe('a3')
})
