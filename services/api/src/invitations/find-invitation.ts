import type { PrismaTransaction } from '@belfry/db/prisma'
import type { Request } from 'express'
import { hashOneTimeToken } from '../auth/one-time-token.ts'
import { notFound } from '../http/not-found.ts'
import { requireOpen } from './require-open.ts'

/** The open invitation whose token stands in the path. Throws `not_found`, or why it cannot be accepted any more. */
export async function findInvitation(tx: Pick<PrismaTransaction, 'invitation'>, request: Request, now: number) {
  const tokenHash = hashOneTimeToken(String(request.params.token))
  const row = await tx.invitation.findUnique({
    where: { tokenHash, organization: { deletedAt: null } },
    include: { organization: true, inviter: { select: { name: true } } },
  })
  if (!row) throw notFound()
  requireOpen(row, now)
  return row
}
