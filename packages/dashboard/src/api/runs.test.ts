import { getEventListeners } from 'node:events'
import { expect, it, onTestFinished, vi } from 'vitest'
import { followLog } from './runs.ts'

it('a log that is followed for long resumes where it was, and leaves no listeners on the signal of its page', async () => {
  vi.useFakeTimers()
  vi.stubGlobal('window', new EventTarget())
  const places: unknown[] = []
  vi.stubGlobal('fetch', async (_path: string, { headers }: { headers: Record<string, string> }) => {
    places.push(headers['Last-Event-ID'])
    return new Response(places.length === 1 ? 'id: run_0\n\nid: run_1\nevent: run\ndata: {}\n\n' : '')
  })
  vi.spyOn(AbortSignal, 'timeout').mockImplementation(ms => {
    const over = new AbortController()
    setTimeout(() => over.abort(), ms)
    return over.signal
  })
  onTestFinished(() => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
  })
  const page = new AbortController()
  const runs: unknown[] = []
  const followed = followLog({ org: 'org_1', ws: 'ws_1' }, { onRun: run => runs.push(run) }, page.signal)
  await vi.advanceTimersByTimeAsync(9_000)
  expect(runs).toEqual([{}])
  expect(places).toEqual([undefined, 'run_1', 'run_1', 'run_1', 'run_1'])
  expect(getEventListeners(page.signal, 'abort')).toEqual([])
  page.abort()
  await followed
})
