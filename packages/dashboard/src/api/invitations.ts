import type { AcceptedInvitation, InvitationPreview } from '@belfry/contract'
import { queryOptions } from '@tanstack/react-query'
import { call } from './call.ts'

export function invitationPreviewQuery(token: string) {
  return queryOptions({
    queryKey: ['invitation', token],
    queryFn: ({ signal }) =>
      call<InvitationPreview>('GET', `/api/v1/invitations/${encodeURIComponent(token)}`, { signal }),
    retry: false,
  })
}

/** Accepts as the signed-in user; a name and a password open an account on the way. */
export function acceptInvitation(
  token: string,
  body: { name?: string; password?: string },
): Promise<AcceptedInvitation> {
  return call('POST', `/api/v1/invitations/${encodeURIComponent(token)}/accept`, { body })
}
