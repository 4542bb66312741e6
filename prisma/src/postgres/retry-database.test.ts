import { expect, it, vi } from 'vitest'
import { retryDatabase } from './retry-database.ts'

const away = Object.assign(new Error('away'), { code: 'ECONNREFUSED' })
const wrong = Object.assign(new Error('wrong'), { code: '42P01' })

it('repeats the call while the database is away, and returns the answer', async () => {
  const ask = vi.fn().mockRejectedValueOnce(away).mockRejectedValueOnce(away).mockResolvedValue('answer')
  const onWait = vi.fn()
  await expect(retryDatabase(ask, { onWait, minPauseMs: 1 })).resolves.toBe('answer')
  expect(onWait.mock.calls).toEqual([[away], [away]])
})

it('doubles its pauses up to the longest one, and gives up when the time is over', async () => {
  const times: number[] = []
  const ask = async () => {
    times.push(performance.now())
    throw away
  }
  const pauses = { minPauseMs: 20, maxPauseMs: 80, maxWaitMs: 290 }
  await expect(retryDatabase(ask, { ...pauses, onWait: () => {} })).rejects.toBe(away)
  const minimum = [20, 40, 80, 80]
  const waited = times.slice(1).map((time, i) => time - (times[i] ?? 0))
  expect(waited.length).toBeLessThanOrEqual(minimum.length)
  expect(waited.every((ms, i) => ms > (minimum[i] ?? 0) - 2)).toBe(true)
})

it('rejects at once for an error that is not transient', async () => {
  const ask = vi.fn().mockRejectedValue(wrong)
  await expect(retryDatabase(ask, { onWait: () => {} })).rejects.toBe(wrong)
  expect(ask).toHaveBeenCalledTimes(1)
})

it('lets the caller say which errors are retryable', async () => {
  const ask = vi.fn().mockRejectedValueOnce(wrong).mockRejectedValue(away)
  const isRetryable = (error: unknown) => error === wrong
  await expect(retryDatabase(ask, { onWait: () => {}, isRetryable, minPauseMs: 1 })).rejects.toBe(away)
  expect(ask).toHaveBeenCalledTimes(2)
})

it('ends a pause when its signal is aborted', async () => {
  const stop = new AbortController()
  const retried = retryDatabase(() => Promise.reject(away), {
    onWait: () => stop.abort(),
    signal: stop.signal,
    minPauseMs: 60_000,
  })
  await expect(retried).rejects.toBe(away)
})
