import type { Organization } from '@belfry/contract'
import { useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useRef } from 'react'
import { useNavigate } from 'react-router'
import { createOrganization } from '../../api/organizations.ts'
import { createWorkspace } from '../../api/workspaces.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { PlainLayout } from '../../layout/plain-layout.tsx'
import { paths } from '../../paths.ts'
import { Field, TextInput } from '../../ui/field.tsx'

/** A new organization with its first workspace; the first steps go on in there. */
export function Welcome(): ReactNode {
  const client = useQueryClient()
  const navigate = useNavigate()
  // Kept where only the workspace failed, so that another try does not make a second organization.
  const made = useRef<Organization | null>(null)
  const form = useForm({
    read: field => ({ name: field('name').trim(), workspace: field('workspace').trim() }),
    check: body => ({
      ...(body.name === '' ? { name: 'Type in a name.' } : {}),
      ...(body.workspace === '' ? { workspace: 'Type in a name.' } : {}),
    }),
    async submit({ name, workspace }) {
      const organization = made.current ?? (await createOrganization({ name }))
      made.current = organization
      return { organization, workspace: await createWorkspace(organization.id, { name: workspace }) }
    },
    async onDone({ organization, workspace }) {
      await client.invalidateQueries({ queryKey: ['me'], refetchType: 'all' })
      await navigate(paths.workspace(organization.slug, workspace.id).firstSteps(), { replace: true })
    },
  })
  return (
    <PlainLayout
      title="Your organization"
      description="It holds your people and your workspaces. Both names can be changed later."
    >
      <Form form={form} action="Create" isWide>
        <Field label="Organization" hint="Your company or project." error={form.errors.name}>
          <TextInput name="name" placeholder="Acme" autoComplete="organization" autoFocus />
        </Field>
        <Field label="First workspace" hint="Tasks, keys and secrets of one environment." error={form.errors.workspace}>
          <TextInput name="workspace" defaultValue="Production" />
        </Field>
      </Form>
    </PlainLayout>
  )
}
