import type { InvitationPreview } from '@belfry/contract/invitation'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useLocation, useNavigate } from 'react-router'
import { ApiProblem } from '../../api/api-problem.ts'
import { call, read } from '../../api/call.ts'
import { queryOf } from '../../api/queries.ts'
import { Form } from '../../forms/form.tsx'
import { NewPasswordField } from '../../forms/new-password-field.tsx'
import { PlainLayout } from '../../layout/plain-layout.tsx'
import { paths } from '../../paths.ts'
import { ButtonLink, Link } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Loaded } from '../../ui/loaded.tsx'
import { checkNewAccount } from './check-new-account.ts'
import { SingleSignOn } from './single-sign-on.tsx'

export function Join() {
  const token = useLocation().hash.slice(1)
  const preview = useQuery(queryOf('previewInvitation', { body: { token } }))
  // Here a 401 is a result, and must not lead to the sign-in page.
  const me = useQuery({
    queryKey: ['me-or-null'],
    queryFn: () => read('getMe').catch(nullIfSignedOut),
  })
  const home = <Link to="/">Go to dashboard</Link>
  if (preview.error instanceof ApiProblem && preview.error.status === 404) {
    return (
      <PlainLayout title="This invitation is no longer valid" foot={home}>
        <p>It has expired, was revoked, or was already used. Ask for another one.</p>
      </PlainLayout>
    )
  }
  if (!preview.data || me.data === undefined) {
    return (
      <PlainLayout title="Invitation" foot={preview.error || me.error ? home : null}>
        <Loaded query={preview.data ? me : preview}>{() => null}</Loaded>
      </PlainLayout>
    )
  }
  return <Invitation token={token} preview={preview.data} signedInAs={me.data?.user.email ?? null} />
}

function nullIfSignedOut(error: unknown): null {
  if (error instanceof ApiProblem && error.status === 401) return null
  throw error
}

type InvitationProps = { token: string; preview: InvitationPreview; signedInAs: string | null }

function Invitation({ token, preview, signedInAs }: InvitationProps) {
  const { organization, invited_by, email, role, workspaces, has_account } = preview
  const where = workspaces.length > 0 ? ` Workspaces: ${workspaces.map(({ name }) => name).join(', ')}.` : ''
  const description = `${invited_by.name} invited ${email} as ${role === 'member' ? 'a' : 'an'} ${role}.${where}`
  const back = paths.signIn(paths.invitation(token))
  const accept = useAccept(token)
  const { data: methods } = useQuery(queryOf('getSignInMethods'))
  return (
    <PlainLayout title={`Join ${organization.name}`} description={description}>
      {signedInAs === email && <Form read={() => ({})} {...accept} action="Join" isWide />}
      {signedInAs !== email && has_account && (
        <>
          {signedInAs && <p>You are signed in as {signedInAs}, but the invitation is for another address.</p>}
          <ButtonLink kind="primary" isWide to={back}>
            Sign in as {email}
          </ButtonLink>
        </>
      )}
      {signedInAs !== email && !has_account && methods && (
        <>
          <SingleSignOn methods={methods} returnTo={paths.invitation(token)} />
          {methods.password && (
            <Form
              read={field => ({ name: field('name').trim(), password: field('password') })}
              check={checkNewAccount}
              {...accept}
              action="Create account and join"
              isWide
            >
              <input type="hidden" autoComplete="username" value={email} readOnly />
              <TextField label="Name" name="name" autoComplete="name" autoFocus />
              <NewPasswordField />
            </Form>
          )}
        </>
      )}
    </PlainLayout>
  )
}

function useAccept(token: string) {
  const client = useQueryClient()
  const navigate = useNavigate()
  return {
    submit: (body: { name?: string; password?: string }) => call('acceptInvitation', { body: { token, ...body } }),
    leaves: true,
    async onDone({ organization }: { organization: { slug: string } }) {
      // Keeps the query of the invitation: it is still on screen, and reading a used one again would fail.
      client.removeQueries({ predicate: ({ queryKey }) => queryKey[0] !== 'previewInvitation' })
      await navigate(paths.organization(organization.slug), { replace: true })
    },
  }
}
