import { randomBytes } from 'node:crypto'
import type { Stage } from './stage.ts'

export type Viewer = { email: string; password: string; token: string }

/** Creates an account that may only read in the first workspace. */
export async function signUpViewer({ belfry, mailedLink }: Stage): Promise<Viewer> {
  const { organizationId, workspaceId, token } = belfry.caller
  const email = `viewer-${randomBytes(6).toString('hex')}@example.com`
  const password = 'only looks at things'
  const invitation = { email, role: 'member', workspace_role: 'viewer', workspace_ids: [workspaceId] }
  await belfry.call('POST', `/api/v1/organizations/${organizationId}/invitations`, invitation, { token: token ?? '' })
  const [, inviteToken] = (await mailedLink(email)).split('#')
  const account = { token: inviteToken, name: 'A viewer', password }
  const { body } = await belfry.call('POST', '/api/v1/invitations/accept', account, {})
  return { email, password, token: body.session.token }
}
