import { type CreateInvitationBody, createInvitationBody, invitation } from '@belfry/contract'
import type { PrismaTransaction } from '@belfry/db/prisma'
import { AppError, newUuid, toId } from '@belfry/domain'
import { audit } from '../audit/audit.ts'
import type { OrganizationCaller } from '../auth/authorize.ts'
import { newOneTimeToken } from '../auth/one-time-token.ts'
import { consumeInvitation } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../http/endpoint.ts'
import { invalid } from '../http/refusals.ts'
import { created } from '../http/reply.ts'
import { lockOrganization } from '../organizations/lock-organization.ts'
import { readQuota, refuseOverCount } from '../quotas/quotas.ts'
import { inviter, presentInvitation } from './present-invitation.ts'
import { invitableWorkspaces, requireGrantable } from './require-grantable.ts'
import { invitationMs, storeInvitationMail } from './send-invitation.ts'

export const createInvitation = endpoint({
  right: 'invitation.create',
  summary: 'Invite a user by e-mail; the link in the mail is valid for seven days and for one use',
  answer: { status: 201, body: invitation },
  refusals: ['already_member', 'already_invited', 'quota_exceeded', 'rate_limited'],
  params: { org: 'org' },
  body: createInvitationBody,
  async handle(ctx, { caller, body }) {
    const { organizationId, user, actor } = caller
    requireGrantable(actor, body.role)
    const email = body.email.toLowerCase()
    await consumeInvitation(ctx, organizationId, email)
    const id = newUuid()
    const { token, tokenHash } = newOneTimeToken()
    const expiresAt = new Date(ctx.clock.now() + invitationMs)
    const quota = await readQuota(ctx, organizationId)
    const row = await ctx.prisma.$transaction(async tx => {
      await lockOrganization(tx, organizationId)
      await requireInvitable(ctx, tx, organizationId, email)
      const isOpen = { organizationId, acceptedAt: null, revokedAt: null, expiresAt: { gt: new Date(ctx.clock.now()) } }
      refuseOverCount(quota, 'invitations', await tx.invitation.count({ where: isOpen }))
      const workspaceIds = await requireWorkspaces(tx, caller, body)
      const { role, workspace_role: workspaceRole } = body
      const data = { id, organizationId, email, role, workspaceRole, workspaceIds, tokenHash, expiresAt }
      const row = await tx.invitation.create({ data: { ...data, invitedBy: user.userId }, include: { inviter } })
      await storeInvitationMail(ctx, tx, { organizationId, email, invitedBy: user.userId, token })
      const details = { email, role, workspace_role: workspaceRole, workspace_ids: body.workspace_ids.map(toWsId) }
      await audit(tx, caller, { action: 'invitation.created', objectId: toId('inv', id), details })
      return row
    })
    const presented = presentInvitation(row, ctx.clock.now())
    return created(`/api/v1/organizations/${presented.organization_id}/invitations/${presented.id}`, presented)
  },
})

const toWsId = (id: string) => toId('ws', id)

// Rejects an address of a member, and an address with an open invitation.
async function requireInvitable(ctx: Context, tx: PrismaTransaction, organizationId: string, email: string) {
  const members = await tx.membership.count({ where: { organizationId, user: { email } } })
  if (members > 0) throw new AppError('already_member', 'A member already has this e-mail address.')
  const now = new Date(ctx.clock.now())
  const open = { organizationId, email, acceptedAt: null, revokedAt: null }
  await tx.invitation.updateMany({ where: { ...open, expiresAt: { lte: now } }, data: { revokedAt: now } })
  if ((await tx.invitation.count({ where: open })) === 0) return
  throw new AppError('already_invited', 'An invitation to this address is open: resend it, or revoke it first.')
}

async function requireWorkspaces(
  tx: PrismaTransaction,
  { organizationId, user, actor }: OrganizationCaller,
  { workspace_ids: ids }: CreateInvitationBody,
): Promise<string[]> {
  const wanted = [...new Set(ids)]
  if (wanted.length === 0 || actor.kind !== 'user' || !user) return []
  const by = { organizationId, userId: user.userId, role: actor.role }
  const found = await invitableWorkspaces(tx, wanted, by)
  if (found.length === wanted.length) return wanted
  const message = 'workspace_ids may contain only workspaces of the organization to which you may invite.'
  const errors = [{ path: 'workspace_ids', code: 'unknown_workspace', message }]
  throw invalid('body', errors)
}
