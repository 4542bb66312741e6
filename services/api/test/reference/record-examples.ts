import { setTimeout as sleep } from 'node:timers/promises'
import { type Operation, pathParameters } from '@belfry/contract/operation'
import { operations } from '@belfry/contract/operations'
import { exampleId } from '@belfry/contract/text-rules'
import { fromId, type IdKind, newUuid } from '@belfry/domain/id'
import type { useOidc } from '../oidc-sign-in.ts'
import { anOrganization, password, type TestOrganization, trust } from '../organization.ts'
import { objects as ofWalk } from '../permissions/objects.ts'
import { type RouteRequest, requests } from '../permissions/requests.ts'
import type { TestApi } from '../setup.ts'
import { prepared, type Stage } from './prepare-examples.ts'

/** An operation, and the response that the API gave to a request to it. */
export type Recorded = { operation: Operation; response: { status: number; type: string; body: unknown } }

type Made = (api: TestApi, organization: TestOrganization) => Promise<string>

const later = '2099-06-01T07:00:00Z'
const aTask = {
  name: 'Trial reminder',
  url: 'https://shop.example.com/hooks/reminder',
  method: 'POST',
  payload: { user: 42 },
  execute_at: later,
  labels: ['customer:42'],
}
const aCronJob = {
  name: 'Yearly report',
  cron: '0 4 1 1 *',
  timezone: 'Europe/Berlin',
  url: 'https://shop.example.com/report',
  method: 'POST',
}

const aSubscription = { topic: 'orders.*', url: 'https://shop.example.com/orders' }

/** A request, and the kind of object that it needs and does not name. */
type Example = RouteRequest & { needs?: string }

// Requests as people send them, where those of the permission walk are too bare.
const own: Record<string, Example> = {
  'POST /api/v1/scheduler/tasks': { body: () => aTask },
  'POST /api/v1/scheduler/tasks/batch': { body: () => ({ tasks: [aTask] }) },
  'PATCH /api/v1/scheduler/tasks/:task': { body: () => ({ execute_at: '2099-06-02T07:00:00Z' }) },
  'POST /api/v1/scheduler/tasks/:task/replay': { objects: { task: 'dead' }, body: () => ({ payload: { user: 43 } }) },
  'POST /api/v1/scheduler/tasks/:task/stop': { objects: { task: 'retrying' } },
  'POST /api/v1/scheduler/tasks/cancel': { needs: 'task', body: () => ({ filter: { label: 'customer:42' } }) },
  'POST /api/v1/scheduler/tasks/stop': { needs: 'retrying', body: () => ({ filter: { label: 'customer:42' } }) },
  'POST /api/v1/scheduler/dead-letters/replay': { needs: 'dead', body: () => ({ filter: {}, per_second: 10 }) },
  'POST /api/v1/scheduler/dead-letters/discard': { needs: 'dead', body: () => ({ filter: {} }) },
  'POST /api/v1/scheduler/bulk-operations': {
    needs: 'task',
    body: () => ({ action: 'cancel', filter: { label: 'customer:42' } }),
  },
  'POST /api/v1/scheduler/cronjobs': { body: () => aCronJob },
  'POST /api/v1/scheduler/cronjobs/preview': { body: () => ({ cron: '0 9 * * MON#1', timezone: 'Europe/Berlin' }) },
  'PATCH /api/v1/scheduler/cronjobs/:cronjob': { body: () => ({ cron: '30 4 1 1 *' }) },
  'GET /api/v1/scheduler/search': { query: '?q=report' },
  'POST /api/events': { needs: 'sub', body: () => ({ topic: 'orders.paid', payload: { order: 4711 } }) },
  'POST /api/v1/scheduler/subscriptions': { body: () => aSubscription },
  'GET /api/v1/operator/targets': { query: '?host=shop.example.com' },
  'POST /api/v1/auth/confirm': { body: () => ({ password }) },
  'POST /api/v1/organizations': { body: () => ({ name: 'Acme' }) },
  'PATCH /api/v1/organizations/:org': { body: () => ({ name: 'Acme' }) },
  'PUT /api/v1/workspaces/:ws/secrets/:name': {
    body: () => ({ value: 'sk_live_1', allowed_hosts: ['api.example.com'] }),
  },
}

// Their responses are pages and keys.
const documents = ['/api/openapi.json', '/api/docs', '/api/problems/:code', '/.well-known/jwks.json']

/** Sends a request of each other operation to a real API, and returns the responses. Ids, times and secrets are always the same. */
export async function recordExamples(oidc: ReturnType<typeof useOidc>): Promise<Recorded[]> {
  const { api } = oidc
  const reading = await aStage(oidc)
  for (const kind of Object.keys(objects)) await reading.idOf(kind)
  const recorded: Recorded[] = []
  for (const operation of Object.values<Operation>(operations)) {
    if (documents.includes(operation.path)) continue
    const stage = operation.method === 'GET' ? reading : await aStage(oidc)
    await api.db.query('UPDATE dispatchers SET seen_at = clock_timestamp()')
    recorded.push(await record(stage, operation))
  }
  return recorded
}

async function aStage(oidc: ReturnType<typeof useOidc>): Promise<Stage> {
  const { api } = oidc
  const organization = await anOrganization(api)
  const { owner, workspaceId } = organization
  await trust(api, owner)
  const headers = { ...owner.session, 'X-Workspace-Id': workspaceId }
  const made = new Map<string, string>()
  return {
    ...{ oidc, api, organization, owner, headers },
    send: async (method, path, body) => (await api.send(method, path, body, headers)).body,
    async idOf(kind) {
      const id = made.get(kind) ?? (await objects[kind]?.(api, organization)) ?? ''
      made.set(kind, id)
      return id
    },
  }
}

const objects: Record<string, Made> = {
  ...ofWalk,
  task: (api, organization) => create(api, organization, 'tasks', aTask),
  cronjob: (api, organization) => create(api, organization, 'cronjobs', aCronJob),
  sub: (api, organization) => create(api, organization, 'subscriptions', aSubscription),
  dead: (api, organization) => aTaskIn('dead', api, organization),
  retrying: (api, organization) => aTaskIn('retrying', api, organization),
}

async function create(api: TestApi, { owner, workspaceId }: TestOrganization, kind: string, body: unknown) {
  const headers = { ...owner.session, 'X-Workspace-Id': workspaceId }
  return (await api.send('POST', `/api/v1/scheduler/${kind}`, body, headers)).body.id
}

async function aTaskIn(state: 'dead' | 'retrying', api: TestApi, organization: TestOrganization): Promise<string> {
  const id = await create(api, organization, 'tasks', aTask)
  const [task, workspace, run] = [fromId('task', id), fromId('ws', organization.workspaceId), newUuid()]
  await api.db.query(
    `WITH ended AS (
       UPDATE tasks SET state = $4, attempts = 1, run_id = $3, finished_at = CASE $4::task_state WHEN 'dead' THEN now() END WHERE id = $1
     )
     INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at,
                       response_status, response_headers, response_body, response_bytes)
     VALUES ($3, $2, $1, 1, 'task', 'failed', now(), now(), now(), 503, '{"content-type":"text/plain"}', 'busy', 4)`,
    [task, workspace, run, state],
  )
  return id
}

async function record(stage: Stage, operation: Operation): Promise<Recorded> {
  const { method, path, right } = operation
  const request: Example = own[`${method} ${path}`] ?? requests[`${method} ${path}`] ?? {}
  if (request.needs) await stage.idOf(request.needs)
  const example = (await prepared[`${method} ${path}`]?.(stage)) ?? {}
  const { query = request.query ?? '', body = request.body?.(), meanwhile, undo } = example
  const ids = { ...example.ids }
  for (const name of pathParameters(path)) ids[name] ??= await stage.idOf(request.objects?.[name] ?? name)
  const filled = path.replace(/:(\w+)/g, (_, name) => ids[name] ?? '')
  const sent = fetch(stage.api.url + filled + query, {
    method,
    redirect: 'manual',
    headers: {
      'X-Forwarded-For': '203.0.113.7',
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      ...(right === 'public' ? {} : stage.headers),
      ...example.headers,
    },
    body: body === undefined ? null : JSON.stringify(body),
  })
  if (meanwhile) await repeatUntil(sent, meanwhile)
  const response = await sent
  undo?.()
  const type = response.headers.get('content-type')?.split(';')[0] ?? ''
  const text = normalize(await (type === 'text/event-stream' ? firstEvent(response) : response.text()), stage)
  return { operation, response: { status: response.status, type, body: /json$/.test(type) ? JSON.parse(text) : text } }
}

async function repeatUntil(end: Promise<unknown>, act: () => Promise<unknown>): Promise<void> {
  let isOver = false
  const over = () => {
    isOver = true
  }
  end.then(over, over)
  while (!isOver) {
    await act()
    await sleep(20)
  }
}

// Leaves the stream.
async function firstEvent({ body }: Response): Promise<string> {
  let text = ''
  for await (const piece of body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += piece
    const [events] = /^.*?\ndata: .*?\n\n/s.exec(text) ?? []
    if (events) return events
  }
  return text
}

const someday = '2026-11-21T02:20:00.000Z'
const day = 86_400_000
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

// What differs from run to run.
function normalize(text: string, { owner }: Stage): string {
  return text
    .replaceAll(owner.email, 'ada@example.com')
    .replaceAll(encodeURIComponent(owner.email), 'ada%40example.com')
    .replace(/\b([a-z]{2,5})_[0-7][0-9a-hjkmnp-tv-z]{25}\b/g, (_, kind) => exampleId(kind as IdKind))
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z/g, time =>
      Math.abs(Date.parse(time) - Date.now()) < 400 * day ? someday : time,
    )
    .replace(new RegExp(`${uuid}(?=@)`, 'g'), 'grace')
    .replace(new RegExp(`${uuid}\\.example`, 'g'), 'shop.example.com')
    .replace(new RegExp(`(?<="slug":")${uuid}`, 'g'), 'acme')
    .replace(new RegExp(`queue-${uuid}`, 'g'), 'customer-42')
    .replace(new RegExp(uuid, 'g'), '0b2c7a5e-8f1d-4c3b-9a6e-2d4f6b8a0c1e')
    .replace(/(?<=\/invitations\/)[\w-]{43}/g, 'dGhlIHRva2VuIG9mIGFuIGludml0YXRpb24')
    .replace(/eyJ[\w-]+\.[\w-]+\.[\w-]+/g, 'eyJhbGciOiJIUzI1NiJ9...')
    .replace(/\bbf_[\w]+/g, 'bf_...')
    .replace(/\bwhsec_[\w+/=]+/g, 'whsec_...')
    .replace(/"(\w*(?:token|challenge|secret|cursor|public_key|hash))":"[^"]{20,}"/g, '"$1":"..."')
    .replace(/\b100\.64\.\d+\.\d+\b/g, '203.0.113.7')
    .replace(/"date":"[\d-]+"/g, '"date":"2026-11-21"')
    .replace(/"(live|mails|workspaces)":\d+/g, '"$1":1')
    .replace(/"id":"[\w-]{22}"/g, '"id":"..."')
    .replace(/"(?:[a-z0-9]{4}-){3}[a-z0-9]{4}"/g, '"k7wq-m3xp-9rtd-2vfa"')
    .replace(/\b(state|nonce|code_challenge|secret)=[\w-]+/g, '$1=...')
    .replace(/http:\/\/127\.0\.0\.1:\d+/g, 'https://issuer.example.com')
    .replace(/http(:\/\/|%3A%2F%2F)belfry\.test/g, 'https$1belfry.example.com')
    .replaceAll('belfry.test', 'belfry.example.com')
}
