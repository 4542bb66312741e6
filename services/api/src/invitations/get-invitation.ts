import { type InvitationPreview, invitationPreview } from '@belfry/contract'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { findInvitation } from './find-invitation.ts'

// A caller with the token has read the mail, so `has_account` reveals nothing to others.
export const getInvitation = endpoint({
  right: 'public',
  summary: 'Read an invitation by its token',
  answer: { status: 200, body: invitationPreview },
  refusals: ['not_found', 'invitation_used', 'invitation_revoked', 'invitation_expired'],
  async handle(ctx, { request }) {
    const row = await findInvitation(ctx.prisma, request, ctx.clock.now())
    const { organizationId, email, role, workspaceIds } = row
    const workspaces = await ctx.prisma.workspace.findMany({
      where: { id: { in: workspaceIds }, organizationId, deletedAt: null },
      select: { name: true },
    })
    const preview: InvitationPreview = {
      organization: { name: row.organization.name },
      invited_by: { name: row.inviter.name },
      email,
      role,
      workspaces,
      has_account: (await ctx.prisma.user.count({ where: { email } })) > 0,
      expires_at: row.expiresAt.toISOString(),
    }
    return ok(preview)
  },
})
