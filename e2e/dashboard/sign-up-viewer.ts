import { waitFor } from '@belfry/testing/wait-for'
import type { Stage } from './stage.ts'

/** Opens an account that may only read in the installation's first workspace; returns its session. */
export async function signUpViewer({ belfry, mailServer }: Stage): Promise<string> {
  const { organizationId, workspaceId, token } = belfry.caller
  const email = 'viewer@example.com'
  const invitation = { email, role: 'member', workspace_role: 'viewer', workspace_ids: [workspaceId] }
  await belfry.call('POST', `/api/v1/organizations/${organizationId}/invitations`, invitation, { token: token ?? '' })
  const [mail] = await waitFor(
    async () => mailServer.mails.filter(({ to }) => to.includes(email)),
    mails => mails.length > 0,
    60_000,
  )
  const secret = /\/invitations\/([\w-]{43})/.exec(mail?.text ?? '')?.[1]
  const account = { name: 'A viewer', password: 'only looks at things' }
  const { body } = await belfry.call('POST', `/api/v1/invitations/${secret}/accept`, account, {})
  return body.session.token
}
