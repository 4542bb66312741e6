import type { Member } from '@belfry/contract/member'
import { mayGrant, type Role, roles } from '@belfry/domain/permissions'
import { useInfiniteQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { Crown, LogOut, UserMinus } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { useNavigate } from 'react-router'
import { meQuery } from '../../api/account.ts'
import { membersQuery, removeMember, transferOrganization, updateMember } from '../../api/organizations.ts'
import { ConfirmChange } from '../../forms/confirm-change.tsx'
import { useChange } from '../../forms/use-change.ts'
import { ResourceList } from '../../layout/resource-list.tsx'
import { paths } from '../../paths.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { useOrganization } from '../../session/scope.ts'
import { ButtonLink, IconButton } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import { RelativeTime } from '../../ui/time.tsx'
import { roleMeanings, roleNames } from './role-names.ts'
import styles from './settings.module.css'
import { UserName } from './user-name.tsx'

export function Members(): ReactNode {
  const { organization, role } = useOrganization()
  const { data: me } = useSuspenseQuery(meQuery)
  const list = useInfiniteQuery(membersQuery(organization.id))
  const [leaving, setLeaving] = useState<Member | null>(null)
  const [nextOwner, setNextOwner] = useState<Member | null>(null)
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
      rows={list.data?.items}
      rowKey={({ user }) => user.id}
      columns={[
        { id: 'name', header: 'Name', cell: ({ user }) => <UserName user={user} isYou={user.id === me.user.id} /> },
        { id: 'role', header: 'Role', cell: member => <RoleOf member={member} isLastOwner={isLastOwner(member)} /> },
        { id: 'joined', header: 'Joined', isExtra: true, cell: ({ joined_at }) => <RelativeTime at={joined_at} /> },
      ]}
      actions={member => (
        <>
          {role === 'owner' && member.user.id !== me.user.id && (
            <IconButton
              label={`Transfer ownership to ${member.user.name}`}
              icon={<Crown size={16} />}
              onClick={() => setNextOwner(member)}
            />
          )}
          <RemoveButton
            member={member}
            isYou={member.user.id === me.user.id}
            isLastOwner={isLastOwner(member)}
            onRemove={() => setLeaving(member)}
          />
        </>
      )}
    >
      <ConfirmChange
        of={nextOwner}
        onClose={() => setNextOwner(null)}
        title={({ user }) => `Transfer ${organization.name} to ${user.name}?`}
        description="They become an owner, and you become an admin. Only an owner can make you an owner again."
        action="Transfer ownership"
        run={({ user }) => transferOrganization(organization.id, { user_id: user.id })}
        affects={[['members', organization.id], ['me']]}
        done={({ user }) => `${user.name} is now an owner`}
      />
      <RemoveDialog member={leaving} isYou={leaving?.user.id === me.user.id} onClose={() => setLeaving(null)} />
    </ResourceList>
  )
}

/** The role of a member, as a select for users who may change it. */
function RoleOf({ member, isLastOwner }: { member: Member; isLastOwner: boolean }): ReactNode {
  const { organization, role: own } = useOrganization()
  const refusal = useRefusal('member.manage')
  const change = useChange({
    run: (role: Role) => updateMember(organization.id, member.user.id, { role }),
    done: ({ user, role }) => `Role of ${user.name} changed to ${roleNames[role].toLowerCase()}`,
    affects: [['members', organization.id], ['me']],
  })
  if (refusal || isLastOwner || !mayGrant(own, member.role)) return roleNames[member.role]
  return (
    <Select
      className={styles.role}
      aria-label={`Role of ${member.user.name}`}
      value={change.isPending ? change.variables : member.role}
      onChange={event => change.mutate(event.target.value as Role)} // one of the options
      options={roles
        .filter(role => mayGrant(own, role))
        .map(role => ({ value: role, label: roleNames[role], title: roleMeanings[role] }))}
    />
  )
}

type RemoveButtonProps = { member: Member; isYou: boolean; isLastOwner: boolean; onRemove(): void }

function RemoveButton({ member, isYou, isLastOwner, onRemove }: RemoveButtonProps): ReactNode {
  const { role: own } = useOrganization()
  const refusal = useRefusal('member.manage')
  if (isYou) {
    const lastOwner = 'You are the only owner. Make another member an owner first, or delete the organization.'
    return (
      <IconButton
        label="Leave"
        icon={<LogOut size={16} />}
        refusal={isLastOwner ? lastOwner : null}
        onClick={onRemove}
      />
    )
  }
  if (refusal) return null
  return (
    <IconButton
      label={`Remove ${member.user.name}`}
      icon={<UserMinus size={16} />}
      refusal={mayGrant(own, member.role) ? null : 'Only an owner can remove an owner.'}
      onClick={onRemove}
    />
  )
}

type RemoveDialogProps = { member: Member | null; isYou: boolean; onClose(): void }

function RemoveDialog({ member, isYou, onClose }: RemoveDialogProps): ReactNode {
  const { organization } = useOrganization()
  const client = useQueryClient()
  const navigate = useNavigate()
  return (
    <ConfirmChange
      of={member}
      onClose={onClose}
      title={({ user }) => (isYou ? `Leave ${organization.name}?` : `Remove ${user.name}?`)}
      description={
        isYou
          ? 'You lose access to its workspaces. To come back, you need a new invitation.'
          : 'They lose access to its workspaces within five seconds. Tasks that they scheduled stay.'
      }
      action={isYou ? 'Leave' : 'Remove member'}
      run={({ user }) => removeMember(organization.id, user.id)}
      onDone={async () => {
        if (!isYou) return
        await client.invalidateQueries({ queryKey: ['me'] })
        await navigate('/')
      }}
      affects={isYou ? [] : [['members', organization.id]]}
      done={({ user }) => (isYou ? undefined : `${user.name} removed`)}
    />
  )
}
