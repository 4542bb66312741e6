import { insertTasks } from '@belfry/db/tasks/insert-tasks'
import { fromId, newUuid, toId } from '@belfry/domain/id'
import { anOrganization, type Person, password } from '../organization.ts'
import { storeRuns } from '../run-rows.ts'
import { mailsTo, tokenFor } from '../sent-mails.ts'
import type { TestApi } from '../setup.ts'

const maxKnown = 50

/** A caller that sends requests: the owner of an organization with a workspace, and the ids that the caller knows. */
export type Actor = {
  organizationId: string
  workspaceId: string
  session: Person['session']
  key: { 'X-Api-Key': string }
  /** Values for members of bodies and for parts of paths, by their name. */
  values: Map<string, string[]>
  /** Ids by their kind. */
  ids: Map<string, string[]>
}

/** Makes a caller with a new organization, for requests that leave the caller without access. */
export async function anActor(api: TestApi): Promise<Actor> {
  const organization = await anOrganization(api)
  const { owner, workspaceId, id: organizationId } = organization
  const { prisma } = api.ctx
  await prisma.organization.update({ where: { id: uuidOf('org', organizationId) }, data: { tier: 'unicorn' } })
  const member = await organization.add('member', 'viewer')
  const values = { email: [owner.email], password: [password], current_password: [password], name: ['NAME'] }
  return {
    ...{ organizationId, workspaceId, session: owner.session, key: await organization.apiKey() },
    values: new Map(Object.entries(values)),
    ids: new Map([
      ['user', [member.id]],
      ['key', [await organization.apiKeyId()]],
    ]),
  }
}

/** Makes a caller whose organization has runs, dead letters, an invitation and a password reset. */
export async function anActorWithPast(api: TestApi, deadLetters: number): Promise<Actor> {
  const actor = await anActor(api)
  const workspaceId = uuidOf('ws', actor.workspaceId)
  const dead = await storeDeadTasks(api, workspaceId, deadLetters)
  const runs = await storeRuns(
    api.db,
    Array.from({ length: 20 }, () => ({ workspaceId })),
  )
  actor.ids.set('task', dead.slice(0, maxKnown))
  actor.ids.set(
    'run',
    runs.map(({ id }) => toId('run', id)),
  )
  const tokens = [await forgetPassword(api)]
  for (let i = 0; i < 6; i++) tokens.push(await invite(api, actor))
  actor.values.set('token', tokens)
  return actor
}

/** Adds the ids in a response to the known ids. */
export function learn({ ids }: Actor, text: string): void {
  for (const [id, kind = ''] of text.matchAll(/\b(task|cron|evt|run|key|fed|sec|inv|int|sub|op)_[0-9a-z]{26}\b/g)) {
    const known = ids.get(kind) ?? ids.set(kind, []).get(kind) ?? []
    if (!known.includes(id)) known.push(id)
    if (known.length > maxKnown) known.shift()
  }
}

function uuidOf(kind: 'org' | 'ws', id: string): string {
  return fromId(kind, id) ?? ''
}

async function storeDeadTasks({ db }: TestApi, workspaceId: string, count: number): Promise<string[]> {
  const request = { url: 'https://example.com/', method: 'POST', headers: '{}', payload: '{"n":1}', maxRetries: 0 }
  const delays = { backoff: 'fixed', baseDelayMs: 1_000, maxDelayMs: 1_000, timeoutMs: 1_000 } as const
  const origin = { source: 'event', topic: 'orders.paid', eventId: newUuid(), replayOf: null } as const
  const tasks = Array.from({ length: count }, () => {
    return { id: newUuid(), workspaceId, name: 'A task', executeAt: null, ...origin, ...request, ...delays }
  })
  await insertTasks(db, tasks)
  const ids = tasks.map(({ id }) => id)
  const text = `UPDATE tasks SET state = 'dead', attempts = 1, finished_at = now() WHERE id = ANY ($1::uuid[])`
  await db.query(text, [ids])
  return ids.map(id => toId('task', id))
}

async function invite(api: TestApi, { organizationId, session }: Actor): Promise<string> {
  const email = `${crypto.randomUUID()}@example.com`
  const body = { email, role: 'member', workspace_role: 'viewer' }
  await api.send('POST', `/api/v1/organizations/${organizationId}/invitations`, body, session)
  return tokenFor(api, email)
}

// For another user, because its use ends all sessions of the user.
async function forgetPassword(api: TestApi): Promise<string> {
  const { owner } = await anOrganization(api)
  await api.send('POST', '/api/v1/auth/password/forgot', { email: owner.email })
  await mailsTo(api, owner.email)
  return tokenFor(api, owner.email)
}
