import type { CreateInvitationBody } from '@belfry/contract/invitation'
import { mayGrant, roles, workspaceRoles } from '@belfry/domain/permissions'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Ban, Mail, Send, UserPlus } from 'lucide-react'
import { call } from '../../api/call.ts'
import { pagesOf } from '../../api/queries.ts'
import { Form } from '../../forms/form.tsx'
import { ChangeButton } from '../../layout/change-buttons.tsx'
import { ResourceList } from '../../layout/resource-list.tsx'
import { useOrganization } from '../../session/scope.ts'
import { Badge } from '../../ui/badge.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { AbsoluteTime } from '../../ui/time.tsx'
import { wordsOf } from '../../ui/words-of.ts'
import { roleMeanings, workspaceRoleMeanings } from './role-meanings.ts'
import styles from './settings.module.css'
import { TwoLines } from './two-lines.tsx'

export function Invitations() {
  const { organization, workspaces } = useOrganization()
  const nameOf = (id: string) => workspaces.find(one => one.id === id)?.name ?? 'another workspace'
  return (
    <ResourceList
      title="Invitations"
      description="Each invitation is an email with a personal link. The link works once, for seven days."
      list={useInfiniteQuery(pagesOf('listInvitations', { org: organization.id }))}
      create={{ label: 'Invite member', icon: <UserPlus size={16} />, right: 'invitation.create' }}
      form={() => <InviteForm />}
      empty={{
        icon: Mail,
        title: 'No invitations yet',
        children: 'Choose a role and workspaces, and Belfry emails an invitation link.',
      }}
      columns={[
        {
          header: 'Email',
          cell: ({ email, invited_by }) => <TwoLines first={email} second={`invited by ${invited_by.name}`} />,
        },
        {
          header: 'Role',
          cell: ({ role, workspace_role, workspace_ids: ids }) => {
            const where = ids.length > 0 && `${wordsOf(workspace_role)} in ${ids.map(nameOf).join(', ')}`
            return <TwoLines first={wordsOf(role)} second={where} />
          },
        },
        {
          header: 'Status',
          cell: ({ status, expires_at }) => (
            <Badge tone={tones[status]}>
              {status === 'pending' ? 'Pending, expires ' : wordsOf(status)}
              {status === 'pending' && <AbsoluteTime at={expires_at} />}
            </Badge>
          ),
        },
      ]}
      actions={({ id, email, status }) =>
        (status === 'pending' || status === 'expired') && (
          <>
            <ChangeButton
              label={`Resend invitation to ${email}`}
              icon={<Send size={16} />}
              right="invitation.revoke"
              run={() => call('resendInvitation', { org: organization.id, inv: id })}
              done={`Invitation sent again to ${email}. The previous link no longer works.`}
            />
            {status === 'pending' && (
              <ChangeButton
                label={`Revoke invitation for ${email}`}
                icon={<Ban size={16} />}
                right="invitation.revoke"
                run={() => call('revokeInvitation', { org: organization.id, inv: id })}
                done={`Invitation for ${email} revoked`}
              />
            )}
          </>
        )
      }
    />
  )
}

const tones = { pending: 'busy', accepted: 'good', revoked: 'plain', expired: 'plain' } as const

function InviteForm() {
  const { organization, role: own, workspaces } = useOrganization()
  return (
    <Form
      read={(field): CreateInvitationBody => ({
        email: field('email').trim(),
        role: field('role') as CreateInvitationBody['role'], // one of the options below
        workspace_role: field('workspace_role') as CreateInvitationBody['workspace_role'],
        workspace_ids: workspaces.map(({ id }) => id).filter(id => field(id) !== ''),
      })}
      check={({ email, role, workspace_ids }) => ({
        email: !email.includes('@') && 'Enter an email address.',
        workspace_ids:
          role === 'member' &&
          workspaces.length > 0 &&
          workspace_ids?.length === 0 &&
          'Select at least one workspace. A member sees only these.',
      })}
      submit={body => call('createInvitation', { org: organization.id, body })}
      done={({ email }) => `Invitation sent to ${email}`}
      action="Send invitation"
    >
      <TextField label="Email address" name="email" type="email" />
      <SelectField
        label="Role"
        name="role"
        defaultValue="member"
        options={roles
          .filter(role => mayGrant(own, role))
          .map(role => ({ value: role, label: `${wordsOf(role)} – ${roleMeanings[role]}` }))}
      />
      <SelectField
        label="Workspace role"
        hint="Owners and admins have full access to every workspace."
        name="workspace_role"
        defaultValue="viewer"
        options={workspaceRoles.map(role => {
          return { value: role, label: `${wordsOf(role)} – ${workspaceRoleMeanings[role]}` }
        })}
      />
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
