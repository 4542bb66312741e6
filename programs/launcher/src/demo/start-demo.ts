import { createServer, type IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { call } from '../call-api.ts'
import { openOnLoopback, type Receiver } from '../echo-receiver.ts'
import type { Account } from '../first-account.ts'
import { readJson, writeJson } from '../json-file.ts'
import type { Opened } from '../opened.ts'
import { say } from '../terminal.ts'
import { cronJobs, queue, requestsAt, subscriptions } from './shop.ts'

const tickMs = 2000

/**
 * Fills a separate workspace with the calls of a fictional shop, and starts their targets on loopback. A later start uses
 * the same workspace.
 * @param path - The file that keeps the key of the workspace.
 */
export async function startDemo(url: string, account: Account, path: string, wantedPort: number): Promise<Opened> {
  const targets = await startTargets(wantedPort)
  const apiKey = await ensureWorkspace(url, account, path)
  const request = (method: string, to: string, body?: unknown) =>
    call(url, method, to, { 'x-api-key': apiKey }, body).catch(() => null) // Belfry restarts, or is about to stop
  const ids = await ensureObjects(request, targets.url)
  let tick = 0
  const timer = setInterval(() => {
    const due = requestsAt(tick++, targets.url)
    for (const { path: to, body } of due) void request('POST', to, body)
  }, tickMs)
  say('The workspace "Demo" of the dashboard shows the calls of a fictional shop.')
  return {
    async stop() {
      clearInterval(timer)
      await Promise.all(ids.map(id => request('POST', `/api/v1/scheduler/cronjobs/${id}/pause`)))
      await targets.stop()
    },
    kill() {
      clearInterval(timer)
      targets.kill()
    },
  }
}

type Request = (method: string, path: string, body?: unknown) => Promise<{ status: number; text: string } | null>

async function ensureWorkspace(url: string, account: Account, path: string): Promise<string> {
  const kept = readJson(path) as { apiKey?: string } | null
  if (kept?.apiKey) {
    const { status } = await call(url, 'GET', '/api/v1/scheduler/cronjobs', { 'x-api-key': kept.apiKey })
    if (status === 200) return kept.apiKey
  }
  const { email, password } = account
  const login = await call(url, 'POST', '/api/v1/auth/login', {}, { email, password })
  const session = { authorization: `Bearer ${JSON.parse(login.text).token}` }
  const me = JSON.parse((await call(url, 'GET', '/api/v1/auth/me', session)).text)
  const organization = `/api/v1/organizations/${me.organizations[0].id}`
  const create = async (to: string): Promise<Created> => {
    const { status, text } = await call(url, 'POST', to, session, { name: 'Demo' })
    if (status === 201) return JSON.parse(text)
    throw new Error(`POST ${to} failed with ${status}: ${text}`)
  }
  const workspace = await create(`${organization}/workspaces`)
  const { key: apiKey } = await create(`/api/v1/workspaces/${workspace.id}/api-keys`)
  writeJson(path, { apiKey })
  return apiKey
}

type Created = { id: string; key: string }

type Named = { id: string; name: string; topic: string }

// The port of the targets can change between two starts.
async function ensureObjects(request: Request, target: string): Promise<string[]> {
  const list = async (path: string) => JSON.parse((await request('GET', path))?.text ?? '{}').data as Named[]
  await request('PUT', `/api/v1/scheduler/queues/${queue.name}`, queue.limits)
  const known = await list('/api/v1/scheduler/cronjobs?limit=100')
  const ids = await Promise.all(
    cronJobs(target).map(async cronJob => {
      const found = known.find(({ name }) => name === cronJob.name)
      const path = '/api/v1/scheduler/cronjobs'
      if (!found) return JSON.parse((await request('POST', path, cronJob))?.text ?? '{}').id as string
      await request('PATCH', `${path}/${found.id}`, { url: cronJob.url })
      await request('POST', `${path}/${found.id}/resume`)
      return found.id
    }),
  )
  const subscribed = await list('/api/v1/scheduler/subscriptions?limit=100')
  for (const subscription of subscriptions(target)) {
    const path = '/api/v1/scheduler/subscriptions'
    const found = subscribed.find(({ topic }) => topic === subscription.topic)
    if (found) await request('PATCH', `${path}/${found.id}`, { url: subscription.url })
    else await request('POST', path, subscription)
  }
  return ids
}

type Answer = { status: number; delayMs: number; body: unknown }

/** How each path of a fictional shop answers the nth attempt of a task, counted from 1. */
const answers: Record<string, (attempt: number) => Answer> = {
  '/receipts': () => ({ status: 200, delayMs: 20, body: { sent: true } }),
  '/shipping': () => ({ status: 202, delayMs: 60, body: { parcel: 'queued' } }),
  '/invoices': () => ({ status: 201, delayMs: 400, body: { invoice: 'created' } }),
  '/reports': () => ({ status: 200, delayMs: 900, body: { rows: 1200 } }),
  // An API that is often busy, and succeeds in the end.
  '/stock': attempt =>
    attempt < 3
      ? { status: 503, delayMs: 30, body: { error: 'The warehouse is busy.' } }
      : { status: 200, delayMs: 30, body: { stock: 7 } },
  '/legacy': () => ({ status: 500, delayMs: 15, body: { error: 'Something went wrong.' } }),
}

async function startTargets(wantedPort: number): Promise<Receiver> {
  const server = createServer(async (request, response) => {
    request.resume()
    const { status, delayMs, body } = answerTo(request)
    await sleep(delayMs)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  })
  return openOnLoopback(server, wantedPort)
}

function answerTo({ url = '', headers }: IncomingMessage): Answer {
  const answer = answers[url]
  return answer ? answer(Number(headers['x-belfry-attempt'])) : { status: 404, delayMs: 0, body: {} }
}
