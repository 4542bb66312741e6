import type { Stage } from './stage.ts'

/** Creates an account that may only read in the first workspace. Returns its session token. */
export async function signUpViewer({ belfry, mailedLink }: Stage): Promise<string> {
  const { organizationId, workspaceId, token } = belfry.caller
  const email = 'viewer@example.com'
  const invitation = { email, role: 'member', workspace_role: 'viewer', workspace_ids: [workspaceId] }
  await belfry.call('POST', `/api/v1/organizations/${organizationId}/invitations`, invitation, { token: token ?? '' })
  const [, inviteToken] = (await mailedLink(email)).split('#')
  const account = { token: inviteToken, name: 'A viewer', password: 'only looks at things' }
  const { body } = await belfry.call('POST', '/api/v1/invitations/accept', account, {})
  return body.session.token
}
