import { addToOutbox } from '@belfry/db/outbox/outbox'
import type { PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { newUuid } from '@belfry/domain/id'
import { invitationMail, type Message } from '@belfry/messages'
import type { Context } from '../context.ts'

/** How long an invitation can be accepted. */
export const invitationMs = 7 * 24 * 3_600_000

/** Stores the mail with an invitation's link. */
export async function storeInvitationMail(
  ctx: Context,
  tx: PrismaTransaction,
  invitation: { organizationId: string; email: string; invitedBy: string; token: string },
): Promise<void> {
  const organization = await tx.organization.findUniqueOrThrow({ where: { id: invitation.organizationId } })
  const inviter = await tx.user.findUniqueOrThrow({ where: { id: invitation.invitedBy } })
  const mail = invitationMail(invitation.email, {
    organization: organization.name,
    inviter: inviter.name,
    url: `${ctx.config.publicUrl}/invitations#${invitation.token}`,
  })
  const message: Message = { type: 'mail', mail }
  const id = newUuid()
  const { masterKeys } = ctx.config
  const stored = { id, kind: 'mail', label: 'invitation', content: JSON.stringify(message), masterKeys } as const
  const tenant = { organizationId: organization.id }
  await addToOutbox(tx, { ...stored, usefulMs: invitationMs, tenant })
}
