import { fromId } from '@belfry/domain/id'
import {
  type Action,
  type Actor,
  decide,
  type Policy,
  policyFlags,
  rights,
  type WorkspaceRole,
} from '@belfry/domain/permissions'
import { propertyRuns } from '@belfry/test-support/property-runs'
import { expect, it } from 'vitest'
import { createRandom, type Random } from './fuzz/random.ts'
import { anOrganization, aPerson, type Person, type TestOrganization } from './organization.ts'
import { tokenFor } from './sent-mails.ts'
import { useApi } from './setup.ts'

const api = useApi()
const allActions = Object.keys(rights) as Action[]
const members = ['viewer', 'editor', null] as const
const sequences = propertyRuns(25, 5)
const callsOfOne = 40

/** The rights of an actor in one workspace. */
const allowedTo = (actor: Actor) => new Set(allActions.filter(action => decide(actor, action).allowed))

/** Everything that a sequence of calls has: who started it, the other users who help, and what they have got. */
type Play = {
  random: Random
  organization: TestOrganization
  workspaces: string[]
  people: Person[]
  keys: string[]
}

const calls: Record<string, (play: Play, person: Person) => Promise<unknown>> = {
  async invite({ random, organization, workspaces, people }, { session }) {
    const body = {
      email: random.pick(people).email,
      role: random.chance(0.8) ? 'member' : random.pick(['owner', 'admin']),
      workspace_role: random.pick(['viewer', 'editor']),
      workspace_ids: workspaces.filter(() => random.chance(0.3)),
    }
    return api.send('POST', `/api/v1/organizations/${organization.id}/invitations`, body, session)
  },
  async resend({ random, organization }, { session }) {
    const path = `/api/v1/organizations/${organization.id}/invitations`
    const { body } = await api.send('GET', path, undefined, organization.owner.session)
    if (body.data.length === 0) return
    return api.send('POST', `${path}/${random.pick<{ id: string }>(body.data).id}/resend`, undefined, session)
  },
  async accept({ random, people }) {
    const { email, session } = random.pick(people)
    return api.send('POST', '/api/v1/invitations/accept', { token: (await tokenFor(api, email)) || 'none' }, session)
  },
  async createKey({ random, workspaces, keys }, { session }) {
    const path = `/api/v1/workspaces/${random.pick(workspaces)}/api-keys`
    const { status, body } = await api.send('POST', path, { name: 'A key' }, session)
    if (status === 201) keys.push(body.id)
  },
  async setRole({ random, organization, people }, { session }) {
    const path = `/api/v1/organizations/${organization.id}/members/${random.pick(people).id}`
    return api.send('PATCH', path, { role: random.pick(['owner', 'admin', 'member']) }, session)
  },
  async setWorkspaceRole({ random, workspaces, people }, { session }) {
    const path = `/api/v1/workspaces/${random.pick(workspaces)}/members/${random.pick(people).id}`
    return api.send('PUT', path, { role: random.pick(['viewer', 'editor']) }, session)
  },
  async setPolicy({ random, organization }, { session }) {
    const policy = { members_can_create_secrets: true, members_can_delete_tasks: random.chance(0.5) }
    return api.send('PATCH', `/api/v1/organizations/${organization.id}`, { policy }, session)
  },
}

it(
  'no sequence of calls ends with a credential that has more rights than its start, and the calls reach every kind of success',
  async () => {
    const organizationIds: string[] = []
    for (let seed = 0; seed < sequences; seed++) {
      const random = createRandom(seed)
      const organization = await anOrganization(api)
      organizationIds.push(fromId('org', organization.id) ?? '')
      const policy = Object.fromEntries(policyFlags.map(flag => [flag, random.chance(0.6)])) as Policy
      policy.membersCanInvite = true
      await organization.setPolicy(policy)
      const workspaces = [organization.workspaceId, await organization.addWorkspace()]
      const actor = await organization.add('member')
      const roleIn = new Map<string, WorkspaceRole | null>()
      for (const workspace of workspaces) {
        const role = random.pick(members)
        roleIn.set(workspace, role)
        if (role === null) continue
        const workspaceId = fromId('ws', workspace) ?? ''
        await api.ctx.prisma.workspaceMember.create({ data: { workspaceId, userId: actor.userId, role } })
      }
      const limits = new Map(
        workspaces.map(workspace => {
          const workspaceRole = roleIn.get(workspace) ?? null
          return [workspace, allowedTo({ kind: 'user', role: 'member', policy, workspaceRole })]
        }),
      )
      const play: Play = {
        random,
        organization,
        workspaces,
        people: [actor, await aPerson(api), await aPerson(api)],
        keys: [],
      }
      for (let i = 0; i < callsOfOne; i++) {
        const name = random.pick(Object.keys(calls))
        await calls[name]?.(play, random.chance(0.6) ? actor : random.pick(play.people))
      }
      for (const workspace of workspaces) {
        for (const [name, credential] of await credentialsIn(play, workspace, policy)) {
          const gained = [...allowedTo(credential)].filter(action => !limits.get(workspace)?.has(action))
          expect(gained, `${name} after the calls of seed ${seed}`).toEqual([])
        }
      }
    }
    const text = 'SELECT DISTINCT action FROM audit_log WHERE organization_id = ANY ($1)'
    const { rows } = await api.db.query(text, [organizationIds])
    const done = rows.map(({ action }) => action)
    expect(done).toEqual(
      expect.arrayContaining(['api_key.created', 'invitation.created', 'invitation.resent', 'member.joined']),
    )
  },
  sequences * 15_000,
)

/** Reads the rights that the people and their keys have in a workspace. */
async function credentialsIn(play: Play, workspace: string, policy: Policy): Promise<Array<[string, Actor]>> {
  const workspaceId = fromId('ws', workspace) ?? ''
  const organizationId = fromId('org', play.organization.id) ?? ''
  const found: Array<[string, Actor]> = []
  for (const { userId } of play.people) {
    const membership = await api.ctx.prisma.membership.findFirst({ where: { organizationId, userId } })
    if (!membership) continue
    const inWorkspace = await api.ctx.prisma.workspaceMember.findFirst({ where: { workspaceId, userId } })
    const workspaceRole = inWorkspace?.role ?? null
    found.push([`user ${userId}`, { kind: 'user', role: membership.role, policy, workspaceRole }])
  }
  for (const { name, scopes } of await api.ctx.prisma.apiKey.findMany({ where: { workspaceId } })) {
    found.push([name, { kind: 'api_key', scopes }])
  }
  return found
}
