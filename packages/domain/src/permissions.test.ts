import { describe, expect, it } from 'vitest'
import {
  type Action,
  type Actor,
  decide,
  keyRights,
  keyScopes,
  mayGrant,
  type Policy,
  type PolicyFlag,
  policyFlags,
  type Role,
  rights,
  roles,
  scopesOfKeyBy,
  type WorkspaceRole,
} from './permissions.ts'

const allActions = Object.keys(rights) as Action[]
const policy = (...set: PolicyFlag[]) =>
  Object.fromEntries(policyFlags.map(flag => [flag, set.includes(flag)])) as Policy
const user = (role: Role, workspaceRole: WorkspaceRole | null = null, ...set: PolicyFlag[]): Actor => ({
  kind: 'user',
  role,
  workspaceRole,
  policy: policy(...set),
})
const allowedTo = (actor: Actor) => allActions.filter(action => decide(actor, action).allowed)

it('an owner may do everything, an admin everything but billing, usage and deleting the organization', () => {
  expect(allowedTo(user('owner'))).toEqual(allActions)
  const kept = [
    'organization.delete',
    'audit_log.stream',
    'organization.transfer',
    'organization.require_second_factor',
    'usage.read',
    'billing.read',
    'billing.change',
  ]
  expect(allowedTo(user('admin'))).toEqual(allActions.filter(action => !kept.includes(action)))
})

it('a member without a workspace sees the organization, and may leave it', () => {
  expect(allowedTo(user('member'))).toEqual([
    ...['organization.read', 'member.read', 'member.leave', 'workspace.list', 'organization_run.read'],
  ])
})

const reads = [
  ...['workspace.read', 'workspace_member.read', 'connection.read', 'task.read', 'cron_job.read', 'run.read'],
  ...['host.read', 'queue.read', 'dead_letter.read'],
]

it('a viewer may read in the workspace, an editor also create, change and replay', () => {
  const viewer = allowedTo(user('member', 'viewer')).filter(action => !allowedTo(user('member')).includes(action))
  expect(viewer).toEqual([...reads, 'subscription.read'])
  const editor = allowedTo(user('member', 'editor')).filter(
    action => !allowedTo(user('member', 'viewer')).includes(action),
  )
  expect(editor).toEqual([
    ...[
      'secret.use',
      'task.create',
      'task.write',
      'cron_job.write',
      'host.reset',
      'host.write',
      'queue.write',
      'dead_letter.replay',
    ],
    ...['event.publish', 'subscription.write'],
  ])
})

const opened: Record<PolicyFlag, Action[]> = {
  membersCanInvite: ['invitation.read', 'invitation.create', 'invitation.revoke'],
  membersCanCreateApiKeys: ['api_key.read', 'api_key.create', 'api_key.revoke'],
  membersCanCreateSecrets: [
    ...(['secret.read', 'secret.write', 'secret.delete'] as const),
    ...(['connection.write', 'connection.delete', 'connection.test'] as const),
    ...(['signing_secret.read', 'signing_secret.rotate', 'signing_secret.revoke'] as const),
  ],
  membersCanCreateWorkspaces: ['workspace.create'],
  membersCanDeleteTasks: [
    'task.delete',
    'cron_job.delete',
    'queue.delete',
    'dead_letter.discard',
    'subscription.delete',
  ],
  membersCanManageIntegrations: ['integration.read', 'integration.write', 'integration.delete'],
}

const forbidden: Record<PolicyFlag, string> = {
  membersCanInvite: 'invite people',
  membersCanCreateApiKeys: 'create API keys',
  membersCanCreateSecrets: 'manage secrets',
  membersCanCreateWorkspaces: 'create workspaces',
  membersCanDeleteTasks: 'cancel or delete work',
  membersCanManageIntegrations: 'manage integrations',
}

describe.each(policyFlags)('%s', flag => {
  const before = allowedTo(user('member', 'editor'))

  it('allows members exactly its actions', () => {
    const after = allowedTo(user('member', 'editor', flag))
    expect(after.filter(action => !before.includes(action)).sort()).toEqual([...opened[flag]].sort())
  })

  it('is named by the refusal', () => {
    for (const action of opened[flag]) {
      expect(decide(user('member', 'editor'), action)).toEqual({
        allowed: false,
        reason: `Your organization doesn't let members ${forbidden[flag]}. An owner or admin can change this in Policy.`,
      })
    }
  })

  it('changes nothing for admins and keys', () => {
    expect(allowedTo(user('admin', null, flag))).toEqual(allowedTo(user('admin')))
  })
})

it('an API key has its workspace and reads its members, but has no access to keys, the organization or billing', () => {
  const keys = allowedTo({ kind: 'api_key', scopes: ['full'] })
  expect(keys).toContain('task.delete')
  expect(keys).toContain('secret.write')
  expect(keys).toContain('organization.read')
  expect(keys.filter(action => /^(api_key|member|workspace_member|invitation|billing|usage)/.test(action))).toEqual([
    'workspace_member.read',
  ])
})

const allowedWith = (...scopes: string[]) => allowedTo({ kind: 'api_key', scopes })
const fullOf = (creator: Actor, wanted?: string[]) => scopesOfKeyBy(creator, wanted).scopes

describe('the scopes of an API key', () => {
  it('are at most the rights of its creator', () => {
    expect([fullOf(user('owner')), fullOf(user('admin'))]).toEqual([['full'], ['full']])
    expect(fullOf(user('member', 'editor', ...policyFlags))).toEqual(['full'])
    for (const creator of [user('member', 'viewer', 'membersCanCreateApiKeys'), user('member', 'editor')]) {
      for (const wanted of Object.keys(keyScopes)) {
        const rightsOfKey = allowedWith(...fullOf(creator, [wanted]))
        expect(rightsOfKey).toEqual(keyScopes[wanted as 'full'].filter(action => decide(creator, action).allowed))
      }
    }
  })

  it('read changes nothing and shows no signing secret', () => {
    const reading = allowedWith('read')
    expect(reading).toContain('task.read')
    expect(reading).toContain('workspace.list')
    expect(reading.filter(action => !/\.(read|list)$/.test(action))).toEqual([])
    expect(reading).not.toContain('signing_secret.read')
  })

  it('publish creates tasks and publishes events, and nothing else', () => {
    expect(allowedWith('publish')).toEqual(['task.create', 'event.publish'])
  })

  it('each single right grants itself; the right to change tasks also the one to create them', () => {
    for (const right of keyRights) {
      expect(allowedWith(right)).toEqual(right === 'task.write' ? ['task.create', 'task.write'] : [right])
    }
  })

  it('add up, and a right of users or an unknown one grants nothing', () => {
    expect(allowedWith('publish', 'queue.read')).toEqual(['task.create', 'queue.read', 'event.publish'])
    expect(allowedWith('api_key.create', 'organization.delete', 'everything', 'constructor')).toEqual([])
    expect(allowedWith()).toEqual([])
  })

  it('a right that the creator lacks is refused by name', () => {
    const viewer = user('member', 'viewer', 'membersCanCreateApiKeys')
    expect(scopesOfKeyBy(viewer, ['task.read', 'task.write'])).toMatchObject({ refused: ['task.write'] })
    expect(scopesOfKeyBy(viewer, ['task.read'])).toEqual({ scopes: ['task.read'], refused: [] })
    expect(scopesOfKeyBy(viewer, ['publish'])).toEqual({ scopes: [], refused: [] })
    expect(decide({ kind: 'api_key', scopes: ['task.read'] }, 'task.write')).toEqual({
      allowed: false,
      reason: expect.stringContaining('task.write'),
    })
  })
})

it('a user grants roles up to their own', () => {
  const granted = roles.map(own => roles.filter(other => mayGrant(own, other)))
  expect(granted).toEqual([['owner', 'admin', 'member'], ['admin', 'member'], ['member']])
})
