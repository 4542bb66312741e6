import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { waitFor } from '@belfry/test-support/wait-for'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { useBelfry } from './belfry.ts'

const belfry = useBelfry('postgres')
let relay: Server
const answers: Array<{ depth: string; status: number; code: string | undefined }> = []
const urlOf = (path: string) => `http://127.0.0.1:${(relay.address() as AddressInfo).port}${path}`

// Another name of the API, such as a reverse proxy: every call becomes the next event.
beforeAll(async () => {
  relay = createServer(async (request, response) => {
    const path = request.url ?? ''
    const depth = String(request.headers['x-belfry-depth'])
    const headers = { 'Content-Type': 'application/json', 'X-Api-Key': belfry.caller.apiKey ?? '' }
    const answer = await fetch(`${belfry.url}/api/events`, {
      method: 'POST',
      headers: { ...headers, 'X-Belfry-Depth': depth },
      body: JSON.stringify({ topic: 'loop', payload: {}, target_url: urlOf(path) }),
    })
    answers.push({ depth, status: answer.status, code: ((await answer.json()) as { code?: string }).code })
    response.end()
  })
  await new Promise<void>(resolve => relay.listen(0, '127.0.0.1', resolve))
})
afterAll(() => void relay?.close())

it('a target that publishes the next event ends after six calls', async () => {
  await belfry.call('POST', '/api/events', { topic: 'loop', payload: {}, target_url: urlOf('/') })
  await waitFor(
    async () => answers,
    all => all.length >= 6,
  )
  // The next call may arrive before the answer to the event that causes it.
  const inOrder = answers.toSorted((a, b) => Number.parseInt(a.depth, 10) - Number.parseInt(b.depth, 10))
  expect(inOrder.map(({ depth, status, code }) => [depth.split('.')[0], status, code])).toEqual([
    ...['1', '2', '3', '4', '5'].map(depth => [depth, 202, undefined]),
    ['6', 508, 'loop_detected'],
  ])
})
