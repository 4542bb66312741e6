import { openPool } from '@belfry/db/postgres/pool'
import { toId } from '@belfry/domain/id'
import { every } from '@belfry/runtime'
import { expect, it } from 'vitest'
import { backgroundLoops, timelyLoops } from '../src/loops.ts'
import { openTestQueue, storeTasks } from './setup.ts'

it('promotes and repairs while slow chores hold every background connection', async () => {
  const { ctx, scheduled } = await openTestQueue()
  const backgroundPool = openPool(ctx.pool.options.connectionString ?? '', {
    max: 1,
    onError: error => console.error(error),
  })
  const slow = await backgroundPool.connect()
  const stop = new AbortController()
  const stored = await storeTasks(ctx, [60_000, -30_000])
  const own = { ...ctx, backgroundPool }
  const loops = [...timelyLoops(own), ...backgroundLoops(own)]
  const running = loops.map(loop => every({ ...loop, onError: () => {} }, stop.signal))
  try {
    await expect
      .poll(() => new Set(scheduled), { timeout: 10_000 })
      .toEqual(new Set(stored.map(id => toId('task', id))))
  } finally {
    stop.abort()
    slow.release()
    await Promise.all(running)
    await backgroundPool.end()
    await ctx.close()
  }
})

it('promotes again as soon as Redis has lost its data, however long there was nothing to promote', async () => {
  const { ctx, scheduled } = await openTestQueue()
  const stop = new AbortController()
  const [id = ''] = await storeTasks(ctx, [60_000])
  let rounds = 0
  let marker: string | null | undefined // null: as if Redis were empty
  const queue = {
    ...ctx.queue,
    readMarker: async () => (marker === null ? null : ctx.queue.readMarker()),
    writeMarker: async (next: string) => {
      rounds++
      marker = next
      await ctx.queue.writeMarker(next)
    },
  }
  const patient = timelyLoops({ ...ctx, queue }).map(loop => ({ ...loop, maxIntervalMs: 3_600_000 }))
  const running = patient.map(loop => every(loop, stop.signal))
  try {
    await expect.poll(() => rounds, { timeout: 20_000 }).toBe(3) // the next one would come after eight seconds
    const lostAt = performance.now()
    marker = null
    await expect.poll(() => scheduled, { timeout: 20_000 }).toEqual([toId('task', id), toId('task', id)])
    expect(performance.now() - lostAt).toBeLessThan(6_000)
  } finally {
    stop.abort()
    await Promise.all(running)
    await ctx.close()
  }
}, 60_000)
