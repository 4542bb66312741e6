import type { Member } from '@belfry/contract/member'
import type { Role } from '@belfry/domain/permissions'
import { call } from './call.ts'
import { listOptions } from './page.ts'

const base = (orgId: string) => `/api/v1/organizations/${orgId}/members`

export function membersQuery(orgId: string) {
  return listOptions<Member>(['members', orgId], base(orgId), { limit: 100 })
}

export function updateMember(orgId: string, userId: string, role: Role): Promise<Member> {
  return call('PATCH', `${base(orgId)}/${userId}`, { body: { role } })
}

export function removeMember(orgId: string, userId: string): Promise<void> {
  return call('DELETE', `${base(orgId)}/${userId}`)
}
