import type {
  AcceptedInvitation,
  CreateInvitationBody,
  Invitation,
  InvitationPreview,
} from '@belfry/contract/invitation'
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import { listOptions } from './page.ts'

export function invitationPreviewQuery(token: string) {
  return queryOptions({
    queryKey: ['invitation', token],
    queryFn: ({ signal }) =>
      call<InvitationPreview>('POST', '/api/v1/invitations/preview', { body: { token }, signal }),
    retry: false,
  })
}

/** Accepts as the signed-in user. With a name and a password it creates the account first. */
export function acceptInvitation(
  token: string,
  body: { name?: string; password?: string },
): Promise<AcceptedInvitation> {
  return call('POST', '/api/v1/invitations/accept', { body: { token, ...body } })
}

const base = (orgId: string) => `/api/v1/organizations/${orgId}/invitations`

export function invitationsQuery(orgId: string) {
  return listOptions<Invitation>(['invitations', orgId], base(orgId))
}

export function createInvitation(orgId: string, body: CreateInvitationBody): Promise<Invitation> {
  return call('POST', base(orgId), { body })
}

export function resendInvitation(orgId: string, id: string): Promise<Invitation> {
  return call('POST', `${base(orgId)}/${id}/resend`)
}

export function revokeInvitation(orgId: string, id: string): Promise<void> {
  return call('DELETE', `${base(orgId)}/${id}`)
}
