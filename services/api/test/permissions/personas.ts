import type { Right } from '@belfry/contract/operation'
import {
  type Actor,
  decide,
  type PolicyFlag,
  policyFlags,
  type Role,
  rights,
  scopesOfKeyBy,
  type WorkspaceRole,
} from '@belfry/domain/permissions'
import { anOrganization, aPerson, type TestOrganization } from '../organization.ts'
import type { TestApi } from '../setup.ts'

type Headers = Record<string, string>

/** A caller: its place in the table of rights, and how a test makes it. */
export type Persona = {
  name: string
  /** The valid credential that it has. */
  credential: 'none' | 'session' | 'key'
  /** Its role in the organization or the workspace; null when it sees neither. */
  actorIn(scope: 'organization' | 'workspace'): Actor | null
  /** Makes the caller, and returns its headers. */
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

const withoutAccess = (name: string, join: Persona['join']): Persona => ({
  name,
  credential: 'none',
  actorIn: () => null,
  join,
})

export const apiKey: Persona = {
  name: 'API key',
  credential: 'key',
  actorIn: () => ({ kind: 'api_key', scopes: ['full'] }),
  join: (_api, organization) => organization.apiKey(),
}

/** An API key that a user created. */
function keyOf(creator: Persona): Persona {
  const actor = creator.actorIn('workspace')
  return {
    name: `key of a ${creator.name}`,
    credential: 'key',
    actorIn: () => ({ kind: 'api_key', scopes: actor ? scopesOfKeyBy(actor).scopes : [] }),
    async join(api, organization) {
      const session = await creator.join(api, organization)
      const path = `/api/v1/workspaces/${organization.workspaceId}/api-keys`
      return { 'X-Api-Key': (await api.send('POST', path, { name: 'CI' }, session)).body.key }
    },
  }
}

/** An API key with scopes. */
export function keyWith(...scopes: string[]): Persona {
  return {
    name: `${scopes.join(', ')} key`,
    credential: 'key',
    actorIn: () => ({ kind: 'api_key', scopes }),
    join: (_api, organization) => organization.apiKey({ scopes }),
  }
}

export const insiders: readonly Persona[] = [
  apiKey,
  keyWith('read'),
  keyWith('publish'),
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
  keyOf(aUser('viewer', 'member', 'viewer', ['membersCanCreateApiKeys'])),
  keyOf(aUser('editor', 'member', 'editor', ['membersCanCreateApiKeys'])),
  aUser('member outside of the workspace, every flag', 'member', null, policyFlags),
  withoutAccess('no credential', async () => ({})),
  withoutAccess('revoked key', (_api, organization) => organization.apiKey({ revokedAt: past() })),
  withoutAccess('expired key', (_api, organization) => organization.apiKey({ expiresAt: past() })),
  withoutAccess('expired session', async api => (await aPerson(api, -1000)).session),
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
    actorIn: scope => (scope === 'organization' ? { kind: 'api_key', scopes: ['full'] } : null),
    join: (_api, organization) => organization.apiKeyOfAnotherWorkspace(),
  },
]

/** Returns the result that the table of rights has for a caller. */
export function expectedAnswer(right: Right, persona: Persona): 'allowed' | 401 | 403 | 404 {
  if (right === 'public') return 'allowed'
  if (persona.credential === 'none') return 401
  if (right === 'signed_in') return persona.credential === 'session' ? 'allowed' : 401
  if (right === 'operator') return persona.credential === 'session' ? 403 : 401
  const actor = persona.actorIn(rights[right].scope)
  if (actor === null) return 404
  return decide(actor, right).allowed ? 'allowed' : 403
}
