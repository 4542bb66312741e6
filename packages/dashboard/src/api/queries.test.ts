import { QueryClient, QueryObserver } from '@tanstack/react-query'
import { expect, it, onTestFinished, vi } from 'vitest'
import { queryOf } from './queries.ts'

it('the answer to an earlier query is kept for another range, and not for another workspace', async () => {
  vi.stubGlobal('fetch', async () => Response.json({ runs: { total: 1 } }))
  onTestFinished(() => void vi.unstubAllGlobals())
  const overview = (ws: string, range: string) => queryOf('getOverview', { ws, query: { range } })
  const shown = new QueryObserver(new QueryClient(), overview('ws_1', '1h'))
  onTestFinished(shown.subscribe(() => {}))
  const first = { runs: { total: 1 } }
  await expect.poll(() => shown.getCurrentResult().data).toEqual(first)
  shown.setOptions(overview('ws_1', '24h'))
  expect(shown.getCurrentResult()).toMatchObject({ data: first, isPlaceholderData: true })
  shown.setOptions(overview('ws_2', '24h'))
  expect(shown.getCurrentResult().data).toBeUndefined()
})
