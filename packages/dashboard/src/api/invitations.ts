import type {
  AcceptedInvitation,
  CreateInvitationBody,
  Invitation,
  InvitationPreview,
} from '@belfry/contract/invitation'
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'
import { post, remove } from './operation.ts'
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
export const acceptInvitation = post('/api/v1/invitations/accept')<
  AcceptedInvitation,
  { token: string; name?: string; password?: string }
>

export function invitationsQuery(orgId: string) {
  return listOptions<Invitation>(['invitations', orgId], `/api/v1/organizations/${orgId}/invitations`)
}

export const createInvitation = post('/api/v1/organizations/:org/invitations')<Invitation, CreateInvitationBody>
export const resendInvitation = post('/api/v1/organizations/:org/invitations/:inv/resend')<Invitation>
export const revokeInvitation = remove('/api/v1/organizations/:org/invitations/:inv')<void>
