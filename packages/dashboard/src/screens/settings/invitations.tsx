import type { CreateInvitationBody, Invitation } from '@belfry/contract/invitation'
import { mayGrant, roles, workspaceRoles } from '@belfry/domain/permissions'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Ban, Mail, Send, UserPlus } from 'lucide-react'
import type { ReactNode } from 'react'
import { createInvitation, invitationsQuery, resendInvitation, revokeInvitation } from '../../api/account.ts'
import { Form } from '../../forms/form.tsx'
import { useChange } from '../../forms/use-change.ts'
import { useForm } from '../../forms/use-form.ts'
import { ResourceList } from '../../layout/resource-list.tsx'
import { useRefusal } from '../../session/allowed.tsx'
import { useOrganization } from '../../session/scope.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Field, Select, TextInput } from '../../ui/field.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { roleMeanings, roleNames, workspaceRoleMeanings, workspaceRoleNames } from './role-names.ts'
import styles from './settings.module.css'

export function Invitations(): ReactNode {
  const { organization, workspaces } = useOrganization()
  const list = useInfiniteQuery(invitationsQuery(organization.id))
  const nameOf = (id: string) => workspaces.find(one => one.id === id)?.name ?? 'another workspace'
  return (
    <ResourceList
      title="Invitations"
      description="Each invitation is an email with a personal link. The link works once, for seven days."
      list={list}
      rows={list.data?.items}
      rowKey={({ id }) => id}
      create={{
        label: 'Invite member',
        icon: <UserPlus size={16} />,
        refusal: useRefusal('invitation.create'),
        form: close => <InviteForm onDone={close} />,
      }}
      empty={{
        icon: Mail,
        title: 'No invitations yet',
        children: 'Choose a role and workspaces, and Belfry emails an invitation link.',
      }}
      columns={[
        {
          id: 'email',
          header: 'Email',
          cell: ({ email, invited_by }) => (
            <div className={styles.twoLines}>
              {email}
              <span>invited by {invited_by.name}</span>
            </div>
          ),
        },
        {
          id: 'role',
          header: 'Role',
          cell: ({ role, workspace_role, workspace_ids }) => (
            <div className={styles.twoLines}>
              {roleNames[role]}
              {workspace_ids.length > 0 && (
                <span>
                  {workspaceRoleNames[workspace_role]} in {workspace_ids.map(nameOf).join(', ')}
                </span>
              )}
            </div>
          ),
        },
        {
          id: 'status',
          header: 'Status',
          cell: ({ status, expires_at }) => (
            <Badge tone={tones[status]}>
              {status === 'pending' ? (
                <>
                  Pending, expires <RelativeTime at={expires_at} />
                </>
              ) : (
                names[status]
              )}
            </Badge>
          ),
        },
      ]}
      actions={invitation => <InvitationActions invitation={invitation} />}
    />
  )
}

const tones: Record<Invitation['status'], Tone> = {
  pending: 'busy',
  accepted: 'good',
  revoked: 'plain',
  expired: 'plain',
}

const names: Record<Invitation['status'], string> = {
  pending: 'Pending',
  accepted: 'Accepted',
  revoked: 'Revoked',
  expired: 'Expired',
}

function InvitationActions({ invitation }: { invitation: Invitation }): ReactNode {
  const { organization } = useOrganization()
  const refusal = useRefusal('invitation.revoke')
  const change = useChange({
    async run(what: 'resend' | 'revoke') {
      if (what === 'resend') await resendInvitation(organization.id, invitation.id)
      else await revokeInvitation(organization.id, invitation.id)
    },
    affects: [['invitations', organization.id]],
    done: (_, what) =>
      what === 'resend'
        ? `Invitation sent again to ${invitation.email}. The previous link no longer works.`
        : `Invitation for ${invitation.email} revoked`,
  })
  if (invitation.status === 'accepted' || invitation.status === 'revoked') return null
  return (
    <>
      <IconButton
        label={`Resend invitation to ${invitation.email}`}
        icon={<Send size={16} />}
        refusal={refusal}
        isPending={change.isPending}
        onClick={() => change.mutate('resend')}
      />
      {invitation.status === 'pending' && (
        <IconButton
          label={`Revoke invitation for ${invitation.email}`}
          icon={<Ban size={16} />}
          refusal={refusal}
          isPending={change.isPending}
          onClick={() => change.mutate('revoke')}
        />
      )}
    </>
  )
}

function InviteForm({ onDone }: { onDone(): void }): ReactNode {
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
