import type { Member } from '@belfry/contract/member'
import type { Role } from '@belfry/domain/permissions'
import { patch, remove } from './operation.ts'
import { listOptions } from './page.ts'

export function membersQuery(orgId: string) {
  return listOptions<Member>(['members', orgId], `/api/v1/organizations/${orgId}/members`, { limit: 100 })
}

export const updateMember = patch('/api/v1/organizations/:org/members/:user')<Member, { role: Role }>
export const removeMember = remove('/api/v1/organizations/:org/members/:user')<void>
