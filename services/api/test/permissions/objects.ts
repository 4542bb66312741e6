import { enterDispatchers } from '@belfry/db/dispatchers/heartbeat'
import { publishCircuits } from '@belfry/db/dispatchers/host-circuits'
import { fromId, newUuid, toId } from '@belfry/domain/id'
import { newOneTimeToken } from '../../src/auth/one-time-token.ts'
import type { TestOrganization } from '../organization.ts'
import { aTaskBody, type TestApi } from '../setup.ts'
import { requests } from './requests.ts'

/** Makes the objects of an organization whose ids are in paths, by the name of the path parameter. */
export const objects: Readonly<Record<string, (api: TestApi, organization: TestOrganization) => Promise<string>>> = {
  org: async (_api, { id }) => id,
  ws: async (_api, { workspaceId }) => workspaceId,
  user: async (_api, { add }) => (await add('member', 'viewer')).id,
  key: (_api, { apiKeyId }) => apiKeyId(),
  fed: (api, organization) => {
    const path = `/api/v1/workspaces/${organization.workspaceId}/federated-credentials`
    return create(api, organization, path, requests['POST /api/v1/workspaces/:ws/federated-credentials']?.body?.())
  },
  inv: async (api, organization) => (await insertInvitation(api, organization)).id,
  token: async (api, organization) => (await insertInvitation(api, organization)).token,
  int: (api, organization) => {
    const path = `/api/v1/workspaces/${organization.workspaceId}/integrations`
    return create(api, organization, path, requests['POST /api/v1/workspaces/:ws/integrations']?.body?.())
  },
  task: (api, organization) => create(api, organization, '/api/v1/scheduler/tasks', aTaskBody()),
  cronjob: (api, organization) =>
    create(api, organization, '/api/v1/scheduler/cronjobs', requests['POST /api/v1/scheduler/cronjobs']?.body?.()),
  sub: (api, organization) =>
    create(
      api,
      organization,
      '/api/v1/scheduler/subscriptions',
      requests['POST /api/v1/scheduler/subscriptions']?.body?.(),
    ),
  operation: (api, organization) => insertOperation(api, organization, 'cancel'),
  replay: (api, organization) => insertOperation(api, organization, 'replay'),
  run: insertRun,
  session: async api => toId('ses', (await api.ctx.prisma.session.findFirstOrThrow()).id),
  passkey: insertPasskey,
  host: openCircuit,
  queue: putQueue,
  connection: putConnection,
  name: putSecret,
  secret: rotateSigningSecret,
  code: async () => 'not_found',
}

async function create(api: TestApi, organization: TestOrganization, path: string, body: unknown): Promise<string> {
  const headers = { ...organization.owner.session, 'X-Workspace-Id': organization.workspaceId }
  return (await api.send('POST', path, body, headers)).body.id
}

async function putQueue(api: TestApi, organization: TestOrganization): Promise<string> {
  const headers = { ...organization.owner.session, 'X-Workspace-Id': organization.workspaceId }
  const name = `queue-${newUuid()}`
  await api.send('PUT', `/api/v1/scheduler/queues/${name}`, {}, headers)
  return name
}

async function insertInvitation({ ctx }: TestApi, organization: TestOrganization) {
  const { token, tokenHash } = newOneTimeToken()
  const id = newUuid()
  const expiresAt = new Date(Date.now() + 3_600_000)
  const organizationId = fromId('org', organization.id) ?? ''
  const who = { email: `${id}@example.com`, role: 'member', workspaceRole: 'viewer' } as const
  const invitedBy = organization.owner.userId
  await ctx.prisma.invitation.create({
    data: { id, organizationId, tokenHash, invitedBy, expiresAt, ...who, workspaceIds: [] },
  })
  return { id: toId('inv', id), token }
}

async function insertRun(api: TestApi, organization: TestOrganization): Promise<string> {
  const task = await create(api, organization, '/api/v1/scheduler/tasks', aTaskBody())
  const [taskId, workspaceId] = [fromId('task', task), fromId('ws', organization.workspaceId)]
  const id = newUuid()
  await api.db.query(
    `INSERT INTO runs (id, workspace_id, task_id, attempt, source, status, scheduled_at, started_at, finished_at)
     VALUES ($1, $2, $3, 1, 'task', 'success', now(), now(), now())`,
    [id, workspaceId, taskId],
  )
  return toId('run', id)
}

async function insertPasskey({ ctx }: TestApi, { owner }: TestOrganization): Promise<string> {
  const id = newUuid()
  const key = { credentialId: id, publicKey: new Uint8Array(1), counter: 0n, transports: [] }
  await ctx.prisma.passkey.create({ data: { id, userId: owner.userId, name: 'A passkey', ...key } })
  return toId('pk', id)
}

/** Opens the circuit breaker of a host on a new dispatcher, and returns the host. */
export async function openCircuit({ db }: TestApi, { workspaceId }: TestOrganization): Promise<string> {
  const { id } = await enterDispatchers(db)
  const host = `${newUuid()}.example`
  await publishCircuits(db, id, [{ workspaceId: fromId('ws', workspaceId) ?? '', host, openForMs: 30_000 }])
  return host
}

async function putConnection(api: TestApi, { owner, workspaceId }: TestOrganization): Promise<string> {
  const body = { kind: 'header', hosts: ['example.com'], value: 'a value' }
  await api.send('PUT', `/api/v1/workspaces/${workspaceId}/connections/a-connection`, body, owner.session)
  return 'a-connection'
}

async function putSecret(api: TestApi, { owner, workspaceId }: TestOrganization): Promise<string> {
  await api.send('PUT', `/api/v1/workspaces/${workspaceId}/secrets/A_SECRET`, { value: 'a value' }, owner.session)
  return 'A_SECRET'
}

// The old secret: only old ones can be revoked.
async function rotateSigningSecret(api: TestApi, { owner, workspaceId }: TestOrganization): Promise<string> {
  const path = `/api/v1/workspaces/${workspaceId}/signing-secrets`
  const [old] = (await api.send('GET', path, undefined, owner.session)).body.data
  await api.send('POST', path, undefined, owner.session)
  return old.id
}

// An operation in progress, because no scheduler is running.
async function insertOperation(api: TestApi, { workspaceId }: TestOrganization, action: string): Promise<string> {
  const id = newUuid()
  await api.db.query(
    `INSERT INTO bulk_operations (id, workspace_id, action, filter, total) VALUES ($1, $2, $3, '{}', 2000)`,
    [id, fromId('ws', workspaceId), action],
  )
  return toId('op', id)
}
