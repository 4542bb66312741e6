import { newUuid, toId } from '@belfry/domain/id'
import { flagName, type Policy, type PolicyFlag, type Role, type WorkspaceRole } from '@belfry/domain/permissions'
import type { TierName } from '@belfry/domain/tiers'
import { hash } from '@node-rs/argon2'
import { createApiKeyText } from '../src/auth/api-key.ts'
import { signSessionToken } from '../src/auth/session-token.ts'
import type { TestApi } from './setup.ts'

/** A user with a session. */
export type Person = { id: string; userId: string; email: string; token: string; session: { Authorization: string } }

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

/** The password of every user that these functions make. */
export const password = 'correct horse battery'

// The cheapest hash that the library allows: a login replaces it by one of the full cost.
const passwordHash = hash(password, { memoryCost: 8_192, timeCost: 1, parallelism: 1 })

const randomName = () => crypto.randomUUID()

/** Makes a user without an organization. */
export async function aPerson({ ctx }: TestApi, validMs = 3_600_000): Promise<Person> {
  const [userId, sessionId, email] = [newUuid(), newUuid(), `${randomName()}@example.com`]
  await ctx.pool.query(
    `WITH of AS (INSERT INTO users (id, email, name, password_hash) VALUES ($1, $2, 'A user', $3) RETURNING id)
     INSERT INTO sessions (id, user_id, expires_at) SELECT $4, id, $5 FROM of`,
    [userId, email, await passwordHash, sessionId, new Date(ctx.clock.now() + validMs)],
  )
  const token = signSessionToken(ctx.config.jwtKeys[0], userId, sessionId, ctx.clock.now())
  return { id: toId('user', userId), userId, email, token, session: { Authorization: `Bearer ${token}` } }
}

/** Makes an operator: a user with a confirmed address of `OPERATORS`, who has signed in with a second factor. */
export async function anOperator(api: TestApi, email: string): Promise<Person> {
  const person = await aPerson(api)
  await api.ctx.pool.query('UPDATE users SET email = $2 WHERE id = $1', [person.userId, email])
  await trust(api, person)
  return { ...person, email }
}

/** Gives a user what an operator needs in addition to the address: it is confirmed, and the sessions have a second factor. */
export async function trust({ ctx }: TestApi, { userId }: Person): Promise<void> {
  const text = `
    WITH confirmed AS (UPDATE users SET email_confirmed_at = now() WHERE id = $1)
    UPDATE sessions SET has_second_factor = true WHERE user_id = $1`
  await ctx.pool.query(text, [userId])
}

/** Makes it with plain statements: the permission walk makes thousands, which would take Prisma minutes. */
export async function anOrganization(api: TestApi, tier: TierName = 'free'): Promise<TestOrganization> {
  const { pool } = api.ctx
  const [organizationId, workspaceId] = [newUuid(), newUuid()]
  await pool.query(
    `WITH of AS (INSERT INTO organizations (id, name, slug, tier) VALUES ($1, 'Acme', $2, $4) RETURNING id)
     INSERT INTO workspaces (id, organization_id, name) SELECT $3, id, 'Main' FROM of`,
    [organizationId, randomName(), workspaceId, tier],
  )
  const createWorkspace = async () => {
    const id = newUuid()
    await pool.query(`INSERT INTO workspaces (id, organization_id, name) VALUES ($1, $2, 'Main')`, [id, organizationId])
    return id
  }
  const add: TestOrganization['add'] = async (role, workspaceRole) => {
    const person = await aPerson(api)
    const { userId } = person
    const joins = 'INSERT INTO memberships (organization_id, user_id, role) VALUES ($1, $2, $3)'
    await pool.query(joins, [organizationId, userId, role])
    const sees = 'INSERT INTO workspace_members (workspace_id, user_id, role) VALUES ($1, $2, $3)'
    if (workspaceRole) await pool.query(sees, [workspaceId, userId, workspaceRole])
    return person
  }
  const owner = await add('owner')
  const addKey = async ({ scopes = ['full'], expiresAt, revokedAt }: KeyState = {}, of: string = workspaceId) => {
    const { key, prefix, hash } = createApiKeyText()
    const id = newUuid()
    await pool.query(
      `INSERT INTO api_keys (id, workspace_id, created_by, name, prefix, hash, scopes, expires_at, revoked_at)
       VALUES ($1, $2, $3, 'CI', $4, $5, $6, $7, $8)`,
      [id, of, owner.userId, prefix, hash, scopes, expiresAt, revokedAt],
    )
    return { id, key }
  }
  return {
    id: toId('org', organizationId),
    workspaceId: toId('ws', workspaceId),
    owner,
    add,
    async apiKey(state) {
      return { 'X-Api-Key': (await addKey(state)).key }
    },
    async apiKeyOfAnotherWorkspace() {
      return { 'X-Api-Key': (await addKey({}, await createWorkspace())).key }
    },
    async apiKeyId() {
      // Every user who may create keys has the rights of this one, and may roll it.
      return toId('key', (await addKey({ scopes: ['task.read'] })).id)
    },
    async addWorkspace() {
      return toId('ws', await createWorkspace())
    },
    async setPolicy(policy) {
      const flags = Object.keys(policy).map((flag, i) => `${flagName(flag as PolicyFlag)} = $${i + 2}`)
      await pool.query(`UPDATE organizations SET ${flags} WHERE id = $1`, [organizationId, ...Object.values(policy)])
    },
  }
}
