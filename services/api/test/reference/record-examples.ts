import { type Operation, pathParameters } from '@belfry/contract/operation'
import { operations } from '@belfry/contract/operations'
import { exampleId } from '@belfry/contract/text-rules'
import { fromId, type IdKind, newUuid } from '@belfry/domain/id'
import { anOrganization, password, type TestOrganization, trust } from '../organization.ts'
import { objects as ofWalk, openCircuit } from '../permissions/objects.ts'
import { type RouteRequest, requests } from '../permissions/requests.ts'
import type { TestApi } from '../setup.ts'

/** An operation, a request to it, and the response that the API gave. Null: the request needs what only a person has. */
export type Recorded = {
  operation: Operation
  path: string
  query: string
  body: unknown
  response: { status: number; type: string; body: unknown } | null
}

type Made = (api: TestApi, organization: TestOrganization) => Promise<string>

const later = '2099-06-01T07:00:00Z'
const aTask = {
  name: 'Trial reminder',
  url: 'https://shop.example.com/hooks/reminder',
  method: 'POST',
  payload: { user: 42 },
  execute_at: later,
}
const aCronJob = {
  name: 'Nightly report',
  cron: '0 4 * * *',
  timezone: 'Europe/Berlin',
  url: 'https://shop.example.com/report',
  method: 'POST',
}

// Requests as people send them, where those of the permission walk are too bare, or are refused.
const own: Record<string, RouteRequest> = {
  'POST /api/v1/scheduler/tasks': { body: () => aTask },
  'POST /api/v1/scheduler/tasks/batch': { body: () => ({ tasks: [aTask] }) },
  'PATCH /api/v1/scheduler/tasks/:task': { body: () => ({ execute_at: '2099-06-02T07:00:00Z' }) },
  'POST /api/v1/scheduler/tasks/:task/replay': { objects: { task: 'dead' }, body: () => ({ payload: { user: 43 } }) },
  'POST /api/v1/scheduler/tasks/:task/stop': { objects: { task: 'retrying' } },
  'POST /api/v1/scheduler/tasks/cancel': { body: () => ({ filter: { label: 'customer:42' } }) },
  'POST /api/v1/scheduler/tasks/stop': { body: () => ({ filter: { label: 'customer:42' } }) },
  'POST /api/v1/scheduler/dead-letters/replay': { body: () => ({ filter: {}, per_second: 10 }) },
  'POST /api/v1/scheduler/cronjobs': { body: () => aCronJob },
  'POST /api/v1/scheduler/cronjobs/preview': { body: () => ({ cron: '0 9 * * MON#1', timezone: 'Europe/Berlin' }) },
  'PATCH /api/v1/scheduler/cronjobs/:cronjob': { body: () => ({ cron: '30 4 * * *' }) },
  'GET /api/v1/scheduler/search': { query: '?q=report' },
  'POST /api/events': { body: () => ({ topic: 'orders.paid', payload: { order: 4711 } }) },
  'POST /api/v1/scheduler/subscriptions': {
    body: () => ({ topic: 'orders.*', url: 'https://shop.example.com/orders' }),
  },
  'DELETE /api/v1/scheduler/subscriptions/:sub/signing-secrets/:secret': { status: 404 },
  'GET /api/v1/operator/targets': { query: '?host=shop.example.com' },
  'POST /api/v1/auth/login': { body: () => ({ email: '<email>', password }) },
  'POST /api/v1/auth/confirm': { body: () => ({ password }) },
  'POST /api/v1/organizations': { body: () => ({ name: 'Acme' }) },
  'PATCH /api/v1/organizations/:org': { body: () => ({ name: 'Acme' }) },
  'POST /api/v1/organizations/:org/transfer': { body: () => ({ user_id: '<user>' }) },
  'POST /api/v1/invitations/preview': { body: () => ({ token: '<token>' }) },
  'POST /api/v1/invitations/accept': { body: () => ({ token: '<token>', name: 'Grace', password }) },
  'PUT /api/v1/workspaces/:ws/secrets/:name': {
    body: () => ({ value: 'sk_live_1', allowed_hosts: ['api.example.com'] }),
  },
}

// Their responses are pages and keys.
const documents = ['/api/openapi.json', '/api/docs', '/api/problems/:code', '/.well-known/jwks.json']

/** Sends a request of each other operation to a real API, and returns both sides. Ids, times and secrets are always the same. */
export async function recordExamples(api: TestApi): Promise<Recorded[]> {
  const reading = await aPlace(api)
  for (const kind of Object.keys(objects)) await idOf(api, reading, kind)
  const recorded: Recorded[] = []
  for (const operation of Object.values<Operation>(operations)) {
    if (documents.includes(operation.path)) continue
    const place = operation.method === 'GET' ? reading : await aPlace(api)
    // A circuit breaker is open for seconds, and a dispatcher without a heartbeat lives for seconds.
    if (operation.path.includes('/hosts')) place.made.set('host', await openCircuit(api, place.organization))
    await api.db.query('UPDATE dispatchers SET seen_at = clock_timestamp()')
    recorded.push(await record(api, operation, place))
  }
  return recorded
}

type Place = { organization: TestOrganization; made: Map<string, string> }

async function aPlace(api: TestApi): Promise<Place> {
  const organization = await anOrganization(api)
  await trust(api, organization.owner)
  return { organization, made: new Map() }
}

async function idOf(api: TestApi, { organization, made }: Place, kind: string): Promise<string> {
  const id = made.get(kind) ?? (await objects[kind]?.(api, organization)) ?? ''
  made.set(kind, id)
  return id
}

const objects: Record<string, Made> = {
  ...ofWalk,
  task: (api, organization) => create(api, organization, 'tasks', aTask),
  cronjob: (api, organization) => create(api, organization, 'cronjobs', aCronJob),
  email: async (_api, { owner }) => owner.email,
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

async function record(api: TestApi, operation: Operation, place: Place): Promise<Recorded> {
  const { method, path } = operation
  const { organization } = place
  const request = own[`${method} ${path}`] ?? requests[`${method} ${path}`] ?? {}
  const ids = new Map<string, string>()
  for (const name of pathParameters(path)) ids.set(name, await idOf(api, place, request.objects?.[name] ?? name))
  let text = JSON.stringify(request.body?.())
  for (const kind of ['email', 'user', 'token'])
    if (text?.includes(`<${kind}>`)) text = text.replace(`<${kind}>`, await idOf(api, place, kind))
  const filled = path.replace(/:(\w+)/g, (_, name) => ids.get(name) ?? '')
  const shown = {
    operation,
    path: normalize(filled, organization),
    query: request.query ?? '',
    body: text && JSON.parse(normalize(text, organization)),
  }
  if (path.endsWith('/stream') || (request.status ?? 200) >= 300) return { ...shown, response: null }
  const headers =
    operation.right === 'public' ? {} : { ...organization.owner.session, 'X-Workspace-Id': organization.workspaceId }
  const answer = await api.send(method, filled + (request.query ?? ''), text && JSON.parse(text), headers)
  const type = answer.headers.get('content-type')?.split(';')[0] ?? ''
  const body = type === 'application/json' ? JSON.parse(normalize(answer.text, organization)) : undefined
  return { ...shown, response: { status: answer.status, type, body } }
}

const someday = '2026-11-21T02:20:00.000Z'
const day = 86_400_000
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'

// What differs from run to run.
function normalize(text: string, { owner }: TestOrganization): string {
  return text
    .replaceAll(owner.email, 'ada@example.com')
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
    .replace(/"(\w*(?:token|challenge|secret|cursor|public_key|uri|hash))":"[^"]{20,}"/g, '"$1":"..."')
    .replace(/\b100\.64\.\d+\.\d+\b/g, '203.0.113.7')
    .replace(/"(live|mails|workspaces)":\d+/g, '"$1":1')
    .replace(/"id":"[\w-]{22}"/g, '"id":"..."')
    .replace(/http:\/\/belfry\.test/g, 'https://belfry.example.com')
    .replaceAll('belfry.test', 'belfry.example.com')
}
