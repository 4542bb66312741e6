import {
  type AcceptedInvitation,
  type AcceptInvitationBody,
  acceptedInvitation,
  acceptInvitationBody,
  acceptInvitationWithTokenBody,
} from '@belfry/contract/invitation'
import { isUniqueViolation, type PrismaTransaction } from '@belfry/db/postgres/create-prisma'
import { AppError } from '@belfry/domain/app-error'
import { newUuid, toId } from '@belfry/domain/id'
import type { Request } from 'express'
import { recordConfirmedEmail } from '../account/email-confirmation.ts'
import { hashPassword } from '../account/password.ts'
import { requirePasswordLogin } from '../account/password-login.ts'
import { requireRegistrationByInvitation } from '../account/registration.ts'
import { startSession } from '../account/start-session.ts'
import { callerAddress } from '../auth/caller-address.ts'
import { findUser } from '../auth/find-user.ts'
import { consumeRegistration } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { findInvitation } from './find-invitation.ts'
import { joinOrganization } from './join-organization.ts'

type Found = Awaited<ReturnType<typeof findInvitation>>
type Session = Awaited<ReturnType<typeof startSession>>

const answer = { status: 200, body: acceptedInvitation, setsCookie: true }
const refusals = [
  'unauthenticated',
  'invitation_email_mismatch',
  'not_found',
  'email_taken',
  'already_member',
  'invitation_used',
  'invitation_revoked',
  'invitation_expired',
  'registration_closed',
  'password_login_off',
  'quota_exceeded',
  'rate_limited',
] as const

export const acceptInvitation = endpoint({
  right: 'public',
  summary: 'Accept an invitation as the signed-in user, or create an account with it',
  answer,
  refusals,
  body: acceptInvitationWithTokenBody,
  handle: (ctx, { request, body: { token, ...account } }) => accept(ctx, request, token, account),
})

export const acceptInvitationOfPath = endpoint({
  right: 'public',
  summary: 'Accept an invitation by a token in the path, which proxies may log',
  answer,
  refusals,
  body: acceptInvitationBody,
  handle: (ctx, { request, body }) => accept(ctx, request, String(request.params.token), body),
})

async function accept(ctx: Context, request: Request, token: string, { name, password }: AcceptInvitationBody) {
  const invitation = await findInvitation(ctx.prisma, token, ctx.clock.now())
  const isNew = name !== undefined && password !== undefined
  return isNew ? register(ctx, request, invitation, { name, password }) : join(ctx, request, invitation)
}

async function join(ctx: Context, request: Request, invitation: Found) {
  const { userId, address } = await findUser(ctx, request)
  const user = await ctx.prisma.user.findUniqueOrThrow({ where: { id: userId } })
  if (user.email !== invitation.email) {
    throw new AppError(
      'invitation_email_mismatch',
      'This invitation is for another email address: sign in with that address.',
    )
  }
  const now = ctx.clock.now()
  const by = { userId, address }
  const workspaceIds = await ctx.prisma.$transaction(async tx => {
    await recordConfirmedEmail(ctx, tx, userId)
    return joinOrganization(ctx, tx, invitation, by, now)
  })
  return { status: 200, body: present(invitation, workspaceIds, null) }
}

// The caller got the link by mail, so the address needs no further proof.
async function register(
  ctx: Context,
  request: Request,
  invitation: Found,
  { name, password }: { name: string; password: string },
) {
  requirePasswordLogin(ctx)
  requireRegistrationByInvitation(ctx.config)
  const address = callerAddress(request)
  await consumeRegistration(ctx, address)
  const now = ctx.clock.now()
  const account = { email: invitation.email, emailConfirmedAt: new Date(now) }
  const data = { id: newUuid(), name, ...account, passwordHash: await hashPassword(password) }
  const open = async (tx: PrismaTransaction) => {
    const user = await tx.user.create({ data })
    const workspaceIds = await joinOrganization(ctx, tx, invitation, { userId: user.id, address }, now)
    return { workspaceIds, session: await startSession(ctx, tx, user, request) }
  }
  const { workspaceIds, session } = await ctx.prisma.$transaction(open).catch(error => {
    throw isUniqueViolation(error) ? new AppError('email_taken', 'This address has an account: sign in first.') : error
  })
  return { status: 200, headers: session.headers, body: present(invitation, workspaceIds, session) }
}

function present({ organization, role }: Found, workspaceIds: string[], session: Session | null): AcceptedInvitation {
  const { id, name, slug } = organization
  return {
    organization: { id: toId('org', id), name, slug },
    role,
    workspace_ids: workspaceIds.map(id => toId('ws', id)),
    session: session?.body ?? null,
  }
}
