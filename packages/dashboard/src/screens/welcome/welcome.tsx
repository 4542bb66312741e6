import type { Organization } from '@belfry/contract/organization'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { useNavigate } from 'react-router'
import { call } from '../../api/call.ts'
import { queryOf } from '../../api/queries.ts'
import { Form } from '../../forms/form.tsx'
import { ChangeButton } from '../../layout/change-buttons.tsx'
import { PlainLayout } from '../../layout/plain-layout.tsx'
import { paths } from '../../paths.ts'
import { Button } from '../../ui/button.tsx'
import { Stack } from '../../ui/card.tsx'
import { TextField } from '../../ui/field.tsx'

/** Creates an organization and its first workspace, then opens the first steps. */
export function Welcome() {
  const { data: me } = useQuery(queryOf('getMe'))
  if (me?.must_confirm_email) return <ConfirmFirst email={me.user.email} />
  return <CreateOrganization />
}

function CreateOrganization() {
  const navigate = useNavigate()
  // Kept if only the workspace failed, so a retry does not create a second organization.
  const created = useRef<Organization | null>(null)
  return (
    <PlainLayout
      title="Create organization"
      description="An organization contains your members and workspaces. You can change both names later."
    >
      <Form
        read={field => ({ name: field('name').trim(), workspace: field('workspace').trim() })}
        check={body => ({
          name: body.name === '' && 'Enter a name.',
          workspace: body.workspace === '' && 'Enter a name.',
        })}
        submit={async ({ name, workspace }) => {
          const organization = created.current ?? (await call('createOrganization', { body: { name } }))
          created.current = organization
          return {
            organization,
            workspace: await call('createWorkspace', { org: organization.id, body: { name: workspace } }),
          }
        }}
        onDone={({ organization, workspace }) =>
          navigate(paths.workspace(organization.slug, workspace.id).firstSteps(), { replace: true })
        }
        action="Create"
        isWide
      >
        <TextField
          label="Organization"
          hint="Your company or project."
          name="name"
          placeholder="Acme"
          autoComplete="organization"
          autoFocus
        />
        <TextField
          label="First workspace"
          hint="Contains the tasks, keys and secrets of one environment."
          name="workspace"
          defaultValue="Production"
        />
      </Form>
    </PlainLayout>
  )
}

function ConfirmFirst({ email }: { email: string }) {
  const client = useQueryClient()
  return (
    <PlainLayout
      title="Confirm your email address"
      description={`We sent a link to ${email}. Open it to create your organization.`}
    >
      <Stack>
        <Button kind="primary" isWide onClick={() => void client.invalidateQueries(queryOf('getMe'))}>
          Continue
        </Button>
        <ChangeButton text="Send another email" isWide run={() => call('resendConfirmation')} done="Email sent." />
      </Stack>
    </PlainLayout>
  )
}
