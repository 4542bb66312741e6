import type { RequestListener } from 'node:http'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { Belfry } from '@belfry/client'
import { waitFor } from '@belfry/testing/wait-for'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Belfry as Installation, startBelfry } from '../belfry.ts'
import { repositoryRoot } from '../repository-root.ts'
import { type FetchHandler, type Receiving, serveFetch, serveListener } from './serve-receiver.ts'

type Env = { BELFRY_SIGNING_SECRET: string }
type Example = {
  app: RequestListener & { fetch(request: Request, env: Env): Promise<Response> }
  POST: FetchHandler
  default: { fetch(request: Request, env: Env): Promise<Response> }
}

/** How the platform of each example serves it. */
const platforms: Record<string, (example: Example, env: Env) => Promise<Receiving>> = {
  express: ({ app }) => serveListener(app),
  'next-route': ({ POST }) => serveFetch(POST),
  hono: ({ app }, env) => serveFetch(request => app.fetch(request, env)),
  'fetch-handler': (example, env) => serveFetch(request => example.default.fetch(request, env)),
}

let installation: Installation
let belfry: Belfry
let env: Env
beforeAll(async () => {
  installation = await startBelfry('postgres', { services: ['all-in-one'] })
  const { apiKey = '', workspaceId = '' } = installation.caller
  belfry = new Belfry({ apiKey, baseUrl: installation.url })
  const { data } = await belfry.workspaces.signingSecrets.list(workspaceId)
  env = { BELFRY_SIGNING_SECRET: data[0]?.secret ?? '' }
  vi.stubEnv('BELFRY_SIGNING_SECRET', env.BELFRY_SIGNING_SECRET)
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await installation?.close()
})

describe.each(Object.keys(platforms))('the example for %s', name => {
  let receiver: Receiving
  const lines: string[] = []
  beforeAll(async () => {
    vi.spyOn(console, 'log').mockImplementation(line => void lines.push(line))
    const file = join(repositoryRoot(), `packages/client/examples/${name}.ts`)
    const example = (await import(pathToFileURL(file).href)) as Example // each exports the handler of its platform
    const serve = platforms[name]
    if (!serve) throw new Error(`Nothing runs ${name}.`)
    receiver = await serve(example, env)
  })
  afterAll(() => {
    receiver?.close()
    vi.restoreAllMocks()
  })

  it('accepts a delivery of Belfry', async () => {
    const { tasks } = await belfry.events.publish({
      topic: 'orders.paid',
      payload: { id: 'größe 7', total: 12.5 },
      targetUrl: `${receiver.url}/hooks/belfry`,
    })
    const id = tasks[0]?.id ?? ''
    const task = await waitFor(
      () => belfry.tasks.get(id),
      ({ state }) => state !== 'pending' && state !== 'processing',
    )
    expect(task).toMatchObject({ state: 'success', lastRun: { responseStatus: 204 } })
    expect(lines).toEqual([`${id}: order größe 7`])
  })

  it('rejects a request of another sender', async () => {
    const headers = {
      'webhook-id': 'task_1',
      'webhook-timestamp': String(Math.floor(Date.now() / 1000)),
      'webhook-signature': `v1,${Buffer.alloc(32).toString('base64')}`,
    }
    const send = (init: RequestInit) => fetch(`${receiver.url}/hooks/belfry`, { method: 'POST', body: '{}', ...init })
    expect((await send({ headers })).status).toBe(400)
    expect((await send({})).status).toBe(400)
    expect(lines).toHaveLength(1)
  })
})
