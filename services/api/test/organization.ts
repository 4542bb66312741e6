import { type Policy, type Role, toId, type WorkspaceRole } from '@belfry/domain'
import { createApiKeyText } from '../src/auth/api-key.ts'
import { signSessionToken } from '../src/auth/session-token.ts'
import type { TestApi } from './setup.ts'

/** A user with a session. */
export type Person = { id: string; userId: string; email: string; session: { Authorization: string } }

/** An organization with a workspace and an owner, made without the API, so no password is hashed. */
export type TestOrganization = {
  id: string
  workspaceId: string
  owner: Person
  /** Adds a member with a role, and to the workspace if a role in it is given. */
  add(role: Role, workspaceRole?: WorkspaceRole): Promise<Person>
  /** The headers of an API key of the workspace. */
  apiKey(state?: KeyState): Promise<{ 'X-Api-Key': string }>
  apiKeyOfAnotherWorkspace(): Promise<{ 'X-Api-Key': string }>
  /** The id of an API key of the workspace. */
  apiKeyId(): Promise<string>
  addWorkspace(): Promise<string>
  setPolicy(policy: Partial<Policy>): Promise<void>
}

type KeyState = { revokedAt?: Date; expiresAt?: Date; scopes?: string[] }

// The hash of no password, in the right form.
const noPassword = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`

const randomName = () => crypto.randomUUID()

/** Makes a user without an organization. */
export async function aPerson({ ctx }: TestApi, validMs = 3_600_000): Promise<Person> {
  const [userId, sessionId, email] = [crypto.randomUUID(), crypto.randomUUID(), `${randomName()}@example.com`]
  const expiresAt = new Date(ctx.clock.now() + validMs)
  await ctx.prisma.user.create({
    data: {
      ...{ id: userId, email, name: 'A user', passwordHash: noPassword },
      sessions: { create: { id: sessionId, expiresAt } },
    },
  })
  const token = signSessionToken(ctx.config.jwtKeys[0], userId, sessionId, ctx.clock.now())
  return { id: toId('user', userId), userId, email, session: { Authorization: `Bearer ${token}` } }
}

export async function anOrganization(api: TestApi): Promise<TestOrganization> {
  const { prisma } = api.ctx
  const [organizationId, workspaceId] = [crypto.randomUUID(), crypto.randomUUID()]
  const slug = randomName()
  await prisma.organization.create({ data: { id: organizationId, name: 'Acme', slug, tier: 'free' } })
  const createWorkspace = (id: string) => prisma.workspace.create({ data: { id, organizationId, name: 'Main' } })
  await createWorkspace(workspaceId)
  const add: TestOrganization['add'] = async (role, workspaceRole) => {
    const person = await aPerson(api)
    const { userId } = person
    await prisma.membership.create({ data: { organizationId, userId, role } })
    if (workspaceRole) await prisma.workspaceMember.create({ data: { workspaceId, userId, role: workspaceRole } })
    return person
  }
  const addKey = async (state: KeyState = {}, of: string = workspaceId) => {
    const { key, prefix, hash } = createApiKeyText()
    const ids = { id: crypto.randomUUID(), workspaceId: of, createdBy: crypto.randomUUID() }
    await prisma.apiKey.create({ data: { ...ids, ...state, name: 'CI', prefix, hash } })
    return { id: ids.id, key }
  }
  return {
    id: toId('org', organizationId),
    workspaceId: toId('ws', workspaceId),
    owner: await add('owner'),
    add,
    async apiKey(state) {
      return { 'X-Api-Key': (await addKey(state)).key }
    },
    async apiKeyOfAnotherWorkspace() {
      const { id } = await createWorkspace(crypto.randomUUID())
      return { 'X-Api-Key': (await addKey({}, id)).key }
    },
    async apiKeyId() {
      // Every user who may create keys has the rights of this one, and may roll it.
      return toId('key', (await addKey({ scopes: ['task.read'] })).id)
    },
    async addWorkspace() {
      const { id } = await createWorkspace(crypto.randomUUID())
      return toId('ws', id)
    },
    async setPolicy(policy) {
      await prisma.organization.update({ where: { id: organizationId }, data: policy })
    },
  }
}
