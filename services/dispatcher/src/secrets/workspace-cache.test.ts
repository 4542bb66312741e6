import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createWorkspaceCache } from './workspace-cache.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => {
  vi.useRealTimers()
})

it('asks once for each workspace in five seconds, and for many in one statement', async () => {
  const load = vi.fn(async (ids: string[]) => new Map(ids.map(id => [id, `of ${id}`])))
  const cache = createWorkspaceCache(load)
  expect(await Promise.all([cache('a'), cache('b'), cache('a')])).toEqual(['of a', 'of b', 'of a'])
  expect(load.mock.calls).toEqual([[['a', 'b']]])
  vi.advanceTimersByTime(4_999)
  await cache('a')
  expect(load).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(1)
  expect(await cache('a')).toBe('of a')
  expect(load).toHaveBeenCalledTimes(2)
})

it('remembers that there is no such workspace, but no failure', async () => {
  const load = vi.fn(async () => new Map<string, string>())
  const cache = createWorkspaceCache(load)
  expect([await cache('a'), await cache('a')]).toEqual([undefined, undefined])
  expect(load).toHaveBeenCalledTimes(1)
  load.mockRejectedValueOnce(new Error('away'))
  await expect(cache('b')).rejects.toThrow('away')
  expect(await cache('b')).toBeUndefined()
})
