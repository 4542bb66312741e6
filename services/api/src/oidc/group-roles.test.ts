import { describe, expect, it } from 'vitest'
import { parseGroupRoles, rolesOf } from './settings.ts'

const mapping = parseGroupRoles(
  JSON.stringify({
    staff: [
      { organization: 'acme', role: 'member', workspace_role: 'viewer' },
      { organization: 'labs', role: 'member' },
    ],
    developers: { organization: 'acme', role: 'member', workspace_role: 'editor' },
    admins: { organization: 'acme', role: 'admin' },
  }),
)

describe('rolesOf', () => {
  it('gives the highest role of all groups', () => {
    const granted = rolesOf(mapping, ['staff', 'admins', 'unknown'])
    expect(granted.get('acme')).toEqual({ role: 'admin', workspaceRole: 'viewer' })
    expect(granted.get('labs')).toEqual({ role: 'member', workspaceRole: undefined })
    expect(rolesOf(mapping, ['developers', 'staff']).get('acme')).toEqual({ role: 'member', workspaceRole: 'editor' })
  })

  it('gives no role without a mapped group', () => {
    expect([...rolesOf(mapping, ['unknown'])]).toEqual([
      ['acme', null],
      ['labs', null],
    ])
    expect([...rolesOf([], ['staff'])]).toEqual([])
  })
})

it.each([
  ['acme', 'must be JSON'],
  ['[]', 'must be an object'],
  ['{"ops":{"organization":"acme"}}', /ops/],
  ['{"ops":{"organization":"Acme Inc","role":"admin"}}', /ops/],
  ['{"ops":{"organization":"acme","role":"root"}}', /ops/],
  ['{"ops":{"organization":"acme","role":"admin","rights":"all"}}', /ops/],
])('parseGroupRoles refuses %s', (text, message) => {
  expect(() => parseGroupRoles(text)).toThrow(message)
})
