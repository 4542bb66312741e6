import { expect, it } from 'vitest'
import { type Action, mayDo, type Policy } from './permissions.ts'

const closed: Policy = { membersCanCreateApiKeys: false, membersCanCreateWorkspaces: false }
const actions: Array<[Action, keyof Policy, string]> = [
  ['workspace.create', 'membersCanCreateWorkspaces', 'members_can_create_workspaces'],
  ['api_key.create', 'membersCanCreateApiKeys', 'members_can_create_api_keys'],
]

it.each(actions)('%s: owners and admins always, members by the flag %s only (spec 2.5, 2.6)', (action, flag, name) => {
  expect(mayDo('owner', closed, action).allowed).toBe(true)
  expect(mayDo('admin', closed, action).allowed).toBe(true)
  expect(mayDo('member', closed, action)).toEqual({ allowed: false, reason: expect.stringContaining(name) })
  expect(mayDo('member', { ...closed, [flag]: true }, action).allowed).toBe(true)
  const others = Object.fromEntries(Object.keys(closed).map(key => [key, key !== flag])) as Policy
  expect(mayDo('member', others, action).allowed).toBe(false)
})
