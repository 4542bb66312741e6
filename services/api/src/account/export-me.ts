import { type AccountExport, accountExport } from '@belfry/contract/account-export'
import { toId } from '@belfry/domain/id'
import { readSecondFactors } from '../auth/second-factors.ts'
import { endpoint } from '../endpoint.ts'
import { presentUser } from './get-me.ts'
import { presentAccountEntry, readAccountLog } from './list-account-log.ts'
import { presentSession } from './sessions.ts'

const maxEntries = 10_000

export const exportMe = endpoint({
  right: 'signed_in',
  summary: 'Export all data about the user',
  answer: { status: 200, body: accountExport },
  async handle(ctx, { caller }) {
    const { userId } = caller
    const createdKeys = await ctx.prisma.apiKey.findMany({
      where: { createdBy: userId, federatedCredentialId: null },
      orderBy: { id: 'asc' },
    })
    const user = await ctx.prisma.user.findUniqueOrThrow({
      where: { id: userId },
      include: {
        memberships: { include: { organization: { select: { name: true } } } },
        workspaceMemberships: { include: { workspace: { select: { name: true } } } },
        sessions: true,
        invitations: true,
        identities: true,
      },
    })
    const body: AccountExport = {
      exported_at: new Date(ctx.clock.now()).toISOString(),
      user: { ...presentUser(user), email_confirmed_at: user.emailConfirmedAt?.toISOString() ?? null },
      organizations: user.memberships.map(({ organizationId, organization, role, joinedAt }) => {
        return { id: toId('org', organizationId), name: organization.name, role, joined_at: joinedAt.toISOString() }
      }),
      workspaces: user.workspaceMemberships.map(({ workspaceId, workspace, role, createdAt }) => {
        return { id: toId('ws', workspaceId), name: workspace.name, role, added_at: createdAt.toISOString() }
      }),
      identities: user.identities.map(({ issuer, subject, createdAt }) => {
        return { issuer, subject, created_at: createdAt.toISOString() }
      }),
      second_factors: await readSecondFactors(ctx.prisma, userId),
      sessions: user.sessions.map(row => presentSession(row, caller)),
      api_keys: createdKeys.map(({ id, name, workspaceId, createdAt, revokedAt }) => ({
        id: toId('key', id),
        name,
        workspace_id: toId('ws', workspaceId),
        created_at: createdAt.toISOString(),
        revoked_at: revokedAt?.toISOString() ?? null,
      })),
      invitations: user.invitations.map(({ id, organizationId, email, createdAt }) => ({
        id: toId('inv', id),
        organization_id: toId('org', organizationId),
        email,
        created_at: createdAt.toISOString(),
      })),
      security_log: (await readAccountLog(ctx, userId, null, maxEntries)).map(presentAccountEntry),
    }
    const headers = { 'Content-Disposition': 'attachment; filename="belfry-account.json"' }
    return { status: 200, body, headers }
  },
})
