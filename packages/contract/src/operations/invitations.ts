import {
  acceptedInvitation,
  acceptInvitationBody,
  acceptInvitationWithTokenBody,
  createInvitationBody,
  invitation,
  invitationPreview,
  invitationTokenBody,
  refusedAcceptance,
  unusableInvitation,
} from '../invitation.ts'
import { operation } from '../operation.ts'
import { listQuery, pageOf } from '../page.ts'

export const invitationsOperations = {
  listInvitations: operation('GET', '/api/v1/organizations/:org/invitations', {
    right: 'invitation.read',
    summary: 'List the invitations of an organization, including those that have ended',
    query: listQuery,
    answer: { status: 200, body: pageOf(invitation) },
  }),

  createInvitation: operation('POST', '/api/v1/organizations/:org/invitations', {
    right: 'invitation.create',
    summary: 'Invite a user by email; the link in the mail is valid for seven days and for one use',
    body: createInvitationBody,
    answer: { status: 201, body: invitation },
    refusals: ['already_member', 'already_invited', 'conflict', 'quota_exceeded', 'rate_limited'],
  }),

  revokeInvitation: operation('DELETE', '/api/v1/organizations/:org/invitations/:inv', {
    right: 'invitation.revoke',
    summary: 'Revoke an invitation; its link stops working',
    answer: { status: 204 },
    refusals: ['invitation_used'],
  }),

  resendInvitation: operation('POST', '/api/v1/organizations/:org/invitations/:inv/resend', {
    right: 'invitation.create',
    summary: 'Resend an invitation with a new link that is valid for seven days; the old link ends',
    answer: { status: 200, body: invitation },
    refusals: ['invitation_used', 'invitation_revoked', 'conflict', 'rate_limited'],
  }),

  previewInvitation: operation('POST', '/api/v1/invitations/preview', {
    right: 'public',
    summary: 'Read an invitation by its token',
    body: invitationTokenBody,
    answer: { status: 200, body: invitationPreview },
    refusals: unusableInvitation,
  }),

  acceptInvitation: operation('POST', '/api/v1/invitations/accept', {
    right: 'public',
    summary: 'Accept an invitation as the signed-in user, or create an account with it',
    body: acceptInvitationWithTokenBody,
    answer: { status: 200, body: acceptedInvitation, setsCookie: true },
    refusals: refusedAcceptance,
  }),

  getInvitation: operation('GET', '/api/v1/invitations/:token', {
    right: 'public',
    summary: 'Read an invitation by a token in the path, which proxies may log',
    answer: { status: 200, body: invitationPreview },
    refusals: unusableInvitation,
  }),

  acceptInvitationOfPath: operation('POST', '/api/v1/invitations/:token/accept', {
    right: 'public',
    summary: 'Accept an invitation by a token in the path, which proxies may log',
    body: acceptInvitationBody,
    answer: { status: 200, body: acceptedInvitation, setsCookie: true },
    refusals: refusedAcceptance,
  }),
}
