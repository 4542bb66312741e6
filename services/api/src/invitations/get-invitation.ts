import { type InvitationPreview, invitationPreview, invitationTokenBody } from '@belfry/contract/invitation'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { ok } from '../http/reply.ts'
import { findInvitation } from './find-invitation.ts'

const refusals = ['not_found', 'invitation_used', 'invitation_revoked', 'invitation_expired'] as const

export const previewInvitation = endpoint({
  right: 'public',
  summary: 'Read an invitation by its token',
  answer: { status: 200, body: invitationPreview },
  refusals,
  body: invitationTokenBody,
  handle: (ctx, { body }) => preview(ctx, body.token),
})

export const getInvitation = endpoint({
  right: 'public',
  summary: 'Read an invitation by a token in the path, which proxies may log',
  answer: { status: 200, body: invitationPreview },
  refusals,
  handle: (ctx, { request }) => preview(ctx, String(request.params.token)),
})

// A caller with the token has read the mail, so `has_account` reveals nothing to others.
async function preview(ctx: Context, token: string) {
  const row = await findInvitation(ctx.prisma, token, ctx.clock.now())
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
}
