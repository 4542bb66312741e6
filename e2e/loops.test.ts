import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { waitFor } from '@belfry/testing/wait-for'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Belfry, startBelfry } from './belfry.ts'

let belfry: Belfry
let relay: Server
let url: string
const answers: Array<{ depth: string; status: number; code: string | undefined }> = []

// Another name of the API, such as a reverse proxy: every call becomes the next event.
beforeAll(async () => {
  belfry = await startBelfry('postgres')
  relay = createServer(async (request, response) => {
    const depth = String(request.headers['x-belfry-depth'])
    const answer = await fetch(`${belfry.url}/api/events`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'X-Api-Key': belfry.caller.apiKey ?? '',
        'X-Belfry-Depth': depth,
      },
      body: JSON.stringify({ topic: 'loop', payload: {}, target_url: url }),
    })
    answers.push({ depth, status: answer.status, code: ((await answer.json()) as { code?: string }).code })
    response.end()
  })
  await new Promise<void>(resolve => relay.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(relay.address() as AddressInfo).port}/`
})
afterAll(async () => {
  await belfry?.close()
  relay?.close()
})

it('a target that publishes the next event ends after six calls', async () => {
  await belfry.call('POST', '/api/events', { topic: 'loop', payload: {}, target_url: url })
  await waitFor(
    async () => answers.length,
    count => count === 6,
  )
  const { body } = await waitFor(
    () => belfry.call('GET', '/api/v1/scheduler/tasks?topic=loop'),
    ({ body }) => body.data.every((task: { state: string }) => task.state === 'success'),
  )
  expect(body.data).toHaveLength(6)
  expect(answers.map(({ depth, status }) => [depth.split('.')[0], status])).toEqual([
    ['1', 202],
    ['2', 202],
    ['3', 202],
    ['4', 202],
    ['5', 202],
    ['6', 508],
  ])
  expect(answers.at(-1)?.code).toBe('loop_detected')
})
