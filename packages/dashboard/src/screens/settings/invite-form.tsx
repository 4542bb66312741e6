import type { CreateInvitationBody } from '@belfry/contract/invitation'
import { mayGrant, roles, workspaceRoles } from '@belfry/domain/permissions'
import type { ReactNode } from 'react'
import { createInvitation } from '../../api/invitations.ts'
import { Form } from '../../forms/form.tsx'
import { useForm } from '../../forms/use-form.ts'
import { useOrganization } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Field, Select, TextInput } from '../../ui/field.tsx'
import { roleMeanings, roleNames, workspaceRoleMeanings, workspaceRoleNames } from './role-names.ts'
import styles from './settings.module.css'

export function InviteForm({ onDone }: { onDone(): void }): ReactNode {
  const { organization, role: own, workspaces } = useOrganization()
  const form = useForm({
    read: (field): CreateInvitationBody => ({
      email: field('email').trim(),
      role: field('role') as CreateInvitationBody['role'], // one of the options below
      workspace_role: field('workspace_role') as CreateInvitationBody['workspace_role'],
      workspace_ids: workspaces.map(({ id }) => id).filter(id => field(id) !== ''),
    }),
    check: ({ email, role, workspace_ids }) => ({
      ...(email.includes('@') ? {} : { email: 'Enter an email address.' }),
      ...(role === 'member' && workspaces.length > 0 && workspace_ids?.length === 0
        ? { workspace_ids: 'Select at least one workspace. A member sees only these.' }
        : {}),
    }),
    submit: body => createInvitation(organization.id, body),
    onDone,
    done: ({ email }) => `Invitation sent to ${email}`,
    affects: [['invitations', organization.id]],
  })
  return (
    <Form form={form} action="Send invitation" more={<Button onClick={onDone}>Cancel</Button>}>
      <Field label="Email address" error={form.errors.email}>
        <TextInput name="email" type="email" autoComplete="off" />
      </Field>
      <Field label="Role" error={form.errors.role}>
        <Select
          name="role"
          defaultValue="member"
          options={roles
            .filter(role => mayGrant(own, role))
            .map(role => ({ value: role, label: `${roleNames[role]} – ${roleMeanings[role]}` }))}
        />
      </Field>
      <Field label="Workspace role" hint="Owners and admins have full access to every workspace.">
        <Select
          name="workspace_role"
          defaultValue="viewer"
          options={workspaceRoles.map(role => {
            return { value: role, label: `${workspaceRoleNames[role]} – ${workspaceRoleMeanings[role]}` }
          })}
        />
      </Field>
      {workspaces.length > 0 && (
        <fieldset className={styles.fieldset}>
          <legend>Workspaces</legend>
          {workspaces.map(({ id, name }) => (
            <Checkbox key={id} name={id} label={name} />
          ))}
        </fieldset>
      )}
    </Form>
  )
}
