import { type Actor, decide, type PolicyFlag, policyFlags, type Role, rights, type WorkspaceRole } from '@belfry/domain'
import type { Right } from '../../src/auth/authorize.ts'
import { anOrganization, aPerson, type TestOrganization } from '../organization.ts'
import type { TestApi } from '../setup.ts'

type Headers = Record<string, string>

/** Somebody who calls: what the table of rights knows about them, and how they are made. */
export type Persona = {
  name: string
  /** Whether they carry a session or a key that is in force. */
  credential: 'none' | 'session' | 'key'
  /** What they are in the organization or in its workspace; null where they see neither. */
  actorIn(scope: 'organization' | 'workspace'): Actor | null
  /** Makes them, and says what they send. */
  join(api: TestApi, organization: TestOrganization): Promise<Headers>
}

const policyOf = (flags: readonly PolicyFlag[]) =>
  Object.fromEntries(policyFlags.map(flag => [flag, flags.includes(flag)])) as Record<PolicyFlag, boolean>

export function aUser(
  name: string,
  role: Role,
  workspaceRole: WorkspaceRole | null,
  flags: readonly PolicyFlag[] = [],
): Persona {
  const policy = policyOf(flags)
  return {
    name,
    credential: 'session',
    actorIn(scope) {
      if (scope === 'organization') return { kind: 'user', role, policy, workspaceRole: null }
      return role === 'member' && workspaceRole === null ? null : { kind: 'user', role, policy, workspaceRole }
    },
    async join(_api, organization) {
      await organization.setPolicy(policy)
      return (await organization.add(role, workspaceRole ?? undefined)).session
    },
  }
}

const past = () => new Date(Date.now() - 1000)

const nobody = (name: string, join: Persona['join']): Persona => ({
  name,
  credential: 'none',
  actorIn: () => null,
  join,
})

export const apiKey: Persona = {
  name: 'API key',
  credential: 'key',
  actorIn: () => ({ kind: 'api_key' }),
  join: (_api, organization) => organization.apiKey(),
}

export const insiders: readonly Persona[] = [
  apiKey,
  aUser('member outside of the workspace', 'member', null),
  aUser('viewer', 'member', 'viewer'),
  aUser('editor', 'member', 'editor'),
  aUser('admin', 'admin', null),
  aUser('owner', 'owner', null),
]

export const personas: readonly Persona[] = [
  ...insiders,
  ...policyFlags.flatMap(flag => [
    aUser(`viewer, ${flag}`, 'member', 'viewer', [flag]),
    aUser(`editor, ${flag}`, 'member', 'editor', [flag]),
  ]),
  aUser('member outside of the workspace, every flag', 'member', null, policyFlags),
  nobody('nobody', async () => ({})),
  nobody('revoked key', (_api, organization) => organization.apiKey({ revokedAt: past() })),
  nobody('expired key', (_api, organization) => organization.apiKey({ expiresAt: past() })),
  nobody('expired session', async api => (await aPerson(api, -1000)).session),
  {
    name: 'outsider',
    credential: 'session',
    actorIn: () => null,
    join: async api => (await anOrganization(api)).owner.session,
  },
  {
    name: 'key of another organization',
    credential: 'key',
    actorIn: () => null,
    join: async api => (await anOrganization(api)).apiKey(),
  },
  {
    name: 'key of another workspace of the organization',
    credential: 'key',
    actorIn: scope => (scope === 'organization' ? { kind: 'api_key' } : null),
    join: (_api, organization) => organization.apiKeyOfAnotherWorkspace(),
  },
]

/** What the table of rights says to somebody who asks for something. */
export function expectedAnswer(right: Right, persona: Persona): 'allowed' | 401 | 403 | 404 {
  if (right === 'public') return 'allowed'
  if (persona.credential === 'none') return 401
  if (right === 'signed_in') return persona.credential === 'session' ? 'allowed' : 401
  const actor = persona.actorIn(rights[right].scope)
  if (actor === null) return 404
  return decide(actor, right).allowed ? 'allowed' : 403
}
