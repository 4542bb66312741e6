import type { Member } from '@belfry/contract/organization'
import type { WorkspaceMember } from '@belfry/contract/workspace'
import { mayGrant, type Role, roles, type WorkspaceRole, workspaceRoles } from '@belfry/domain/permissions'
import { useInfiniteQuery, useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { Crown, LogOut, UserMinus, Users } from 'lucide-react'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { call } from '../../api/call.ts'
import { allOf, pagesOf, queryOf } from '../../api/queries.ts'
import { useChange } from '../../forms/use-change.ts'
import { ChangeButton, ConfirmButton } from '../../layout/change-buttons.tsx'
import { ResourceList } from '../../layout/resource-list.tsx'
import { paths } from '../../paths.ts'
import { useOrganization, useRefusal, useWorkspace } from '../../session/scope.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { wordsOf } from '../../ui/words-of.ts'
import { roleMeanings, workspaceRoleMeanings } from './role-meanings.ts'
import styles from './settings.module.css'
import { TwoLines } from './two-lines.tsx'

export function Members() {
  const { organization, role } = useOrganization()
  const { data: me } = useSuspenseQuery(queryOf('getMe'))
  const mayManage = useRefusal('member.manage') === null
  const list = useInfiniteQuery(pagesOf('listMembers', { org: organization.id, query: { limit: 100 } }))
  const owners = list.data?.items.filter(({ role }) => role === 'owner').length
  const isLastOwner = ({ role }: Member) => role === 'owner' && owners === 1 && !list.hasNextPage
  return (
    <ResourceList
      title="Members"
      description={`The people in ${organization.name}. Workspace roles and the policy decide what members can do.`}
      list={list}
      empty={{ title: 'No members' }}
      buttons={
        <ButtonLink
          kind="primary"
          to={`${paths.settings(organization.slug, 'invitations')}?new=1`}
          refusal={useRefusal('invitation.create')}
        >
          Invite member
        </ButtonLink>
      }
      rowKey={({ user }) => user.id}
      columns={[
        { header: 'Name', cell: ({ user }) => <NameOf user={user} /> },
        { header: 'Role', cell: member => <RoleOf member={member} isLastOwner={isLastOwner(member)} /> },
        { header: 'Joined', isExtra: true, cell: ({ joined_at }) => <RelativeTime at={joined_at} /> },
      ]}
      actions={member => (
        <>
          {role === 'owner' && member.user.id !== me.user.id && (
            <ConfirmButton
              label={`Transfer ownership to ${member.user.name}`}
              icon={<Crown size={16} />}
              title={`Transfer ${organization.name} to ${member.user.name}?`}
              description="They become an owner, and you become an admin. Only an owner can make you an owner again."
              action="Transfer ownership"
              run={() => call('transferOrganization', { org: organization.id, body: { user_id: member.user.id } })}
              done={`${member.user.name} is now an owner`}
            />
          )}
          {member.user.id === me.user.id ? (
            <LeaveButton member={member} isLastOwner={isLastOwner(member)} />
          ) : (
            mayManage && (
              <ConfirmButton
                label={`Remove ${member.user.name}`}
                icon={<UserMinus size={16} />}
                refusal={mayGrant(role, member.role) ? null : 'Only an owner can remove an owner.'}
                description="They lose access to its workspaces within five seconds. Tasks that they scheduled stay."
                action="Remove member"
                run={() => call('removeMember', { org: organization.id, user: member.user.id })}
                done={`${member.user.name} removed`}
              />
            )
          )}
        </>
      )}
    />
  )
}

function NameOf({ user: { id, name, email } }: Pick<Member, 'user'>) {
  const { data: me } = useSuspenseQuery(queryOf('getMe'))
  return <TwoLines first={id === me.user.id ? `${name} (you)` : name} second={email} />
}

function RoleOf({ member, isLastOwner }: { member: Member; isLastOwner: boolean }) {
  const { organization, role: own } = useOrganization()
  const refusal = useRefusal('member.manage')
  const change = useChange({
    run: (role: Role) => call('updateMember', { org: organization.id, user: member.user.id, body: { role } }),
    done: ({ user, role }) => `Role of ${user.name} changed to ${role}`,
  })
  if (refusal || isLastOwner || !mayGrant(own, member.role)) return wordsOf(member.role)
  return (
    <Select
      className={styles.role}
      aria-label={`Role of ${member.user.name}`}
      value={change.isPending ? change.variables : member.role}
      onChange={event => change.mutate(event.target.value as Role)} // one of the options
      options={roles
        .filter(role => mayGrant(own, role))
        .map(role => ({ value: role, label: wordsOf(role), title: roleMeanings[role] }))}
    />
  )
}

function LeaveButton({ member, isLastOwner }: { member: Member; isLastOwner: boolean }) {
  const { organization } = useOrganization()
  const client = useQueryClient()
  const navigate = useNavigate()
  const lastOwner = 'You are the only owner. Make another member an owner first, or delete the organization.'
  return (
    <ConfirmButton
      label="Leave"
      icon={<LogOut size={16} />}
      refusal={isLastOwner ? lastOwner : null}
      title={`Leave ${organization.name}?`}
      description="You lose access to its workspaces. To come back, you need a new invitation."
      action="Leave"
      run={() => call('removeMember', { org: organization.id, user: member.user.id })}
      leaves
      onDone={async () => {
        await client.refetchQueries(queryOf('getMe'))
        await navigate('/')
      }}
    />
  )
}

const roleOptions = workspaceRoles.map(role => {
  return { value: role, label: wordsOf(role), title: workspaceRoleMeanings[role] }
})

export function WorkspaceMembers() {
  const { workspace } = useWorkspace()
  const list = useQuery(allOf('listWorkspaceMembers', { ws: workspace.id }))
  const refusal = useRefusal('workspace_member.manage')
  const change = useChange({
    run: ({ user, role }: { user: string; role: WorkspaceRole }) =>
      call('putWorkspaceMember', { ws: workspace.id, user, body: { role } }),
  })
  return (
    <ResourceList
      title="Workspace members"
      description={`Members of the organization see ${workspace.name} only if they are added here. Owners and admins see every workspace.`}
      list={list}
      filters={refusal === null && list.data && <AddMember present={list.data} />}
      empty={{ icon: Users, title: 'No members', children: 'Only owners and admins see this workspace.' }}
      rowKey={({ user }) => user.id}
      columns={[
        { header: 'Name', cell: ({ user }) => <NameOf user={user} /> },
        {
          header: 'Role',
          cell: ({ user, role }) =>
            refusal ? (
              <span title={workspaceRoleMeanings[role]}>{wordsOf(role)}</span>
            ) : (
              <Select
                aria-label={`Role of ${user.name}`}
                value={role}
                onChange={event => change.mutate({ user: user.id, role: event.target.value as WorkspaceRole })} // one of the options
                options={roleOptions}
              />
            ),
        },
      ]}
      actions={({ user }) =>
        refusal === null && (
          <ChangeButton
            label={`Remove ${user.name} from the workspace`}
            icon={<UserMinus size={16} />}
            run={() => call('removeWorkspaceMember', { ws: workspace.id, user: user.id })}
          />
        )
      }
    />
  )
}

function AddMember({ present }: { present: WorkspaceMember[] }) {
  const { organization } = useOrganization()
  const { workspace } = useWorkspace()
  const [userId, setUserId] = useState('')
  const { data = [] } = useQuery(allOf('listMembers', { org: organization.id }))
  const isMissing = ({ user, role }: Member) => role === 'member' && !present.some(member => member.user.id === user.id)
  const options = data.filter(isMissing).map(({ user, workspace_role: role }) => {
    return { value: user.id, label: `${user.name} (${user.email}) as ${role}` }
  })
  if (options.length === 0) return null
  return (
    <div className={styles.inline}>
      <Select
        aria-label="Member to add"
        value={userId}
        onChange={event => setUserId(event.target.value)}
        options={[{ value: '', label: 'Add a member of the organization…' }, ...options]}
      />
      {/* Without a role it is their default role. */}
      <ChangeButton
        text="Add member"
        refusal={userId ? null : 'Select a member first.'}
        run={() => call('putWorkspaceMember', { ws: workspace.id, user: userId, body: {} })}
        onDone={({ user }) => setUserId(now => (now === user.id ? '' : now))}
      />
    </div>
  )
}
