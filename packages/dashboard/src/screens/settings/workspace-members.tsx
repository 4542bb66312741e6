import type { Member, WorkspaceMember } from '@belfry/contract/member'
import { type WorkspaceRole, workspaceRoles } from '@belfry/domain/permissions'
import { useInfiniteQuery, useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { UserMinus, Users } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { call } from '../../api/call.ts'
import { allOf, pagesOf, queryOf } from '../../api/queries.ts'
import { useChange } from '../../forms/use-change.ts'
import { ChangeButton } from '../../layout/change-buttons.tsx'
import { ResourceList } from '../../layout/resource-list.tsx'
import { useRefusal } from '../../session/allowed.tsx'
import { useOrganization, useWorkspace } from '../../session/scope.ts'
import { Button } from '../../ui/button.tsx'
import { Select } from '../../ui/field.tsx'
import { workspaceRoleMeanings, workspaceRoleNames } from './role-names.ts'
import styles from './settings.module.css'
import { TwoLines } from './two-lines.tsx'

const roleOptions = workspaceRoles.map(role => {
  return { value: role, label: workspaceRoleNames[role], title: workspaceRoleMeanings[role] }
})

export function WorkspaceMembers(): ReactNode {
  const { workspace } = useWorkspace()
  const { data: me } = useSuspenseQuery(queryOf('getMe'))
  const list = useQuery(allOf('listWorkspaceMembers', { ws: workspace.id }))
  const refusal = useRefusal('workspace_member.manage')
  const change = useMemberChange()
  return (
    <ResourceList
      title="Workspace members"
      description={`Members of the organization see ${workspace.name} only if they are added here. Owners and admins see every workspace.`}
      list={list}
      filters={refusal === null && list.data && <AddMember present={list.data} />}
      empty={{ icon: Users, title: 'No members', children: 'Only owners and admins see this workspace.' }}
      rowKey={({ user }) => user.id}
      columns={[
        {
          header: 'Name',
          cell: ({ user }) => (
            <TwoLines first={user.id === me.user.id ? `${user.name} (you)` : user.name} second={user.email} />
          ),
        },
        {
          header: 'Role',
          cell: ({ user, role }) =>
            refusal ? (
              <span title={workspaceRoleMeanings[role]}>{workspaceRoleNames[role]}</span>
            ) : (
              <Select
                aria-label={`Role of ${user.name}`}
                value={role}
                onChange={event => change.mutate({ userId: user.id, role: event.target.value as WorkspaceRole })} // one of the options
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

function AddMember({ present }: { present: WorkspaceMember[] }): ReactNode {
  const { organization } = useOrganization()
  const [userId, setUserId] = useState('')
  const { data } = useInfiniteQuery(pagesOf('listMembers', { org: organization.id, query: { limit: 100 } }))
  const change = useMemberChange()
  const isMissing = ({ user, role }: Member) => role === 'member' && !present.some(member => member.user.id === user.id)
  const missing = data?.items.filter(isMissing) ?? []
  if (missing.length === 0) return null
  return (
    <form
      className={styles.inline}
      onSubmit={event => {
        event.preventDefault()
        if (userId) change.mutate({ userId })
        setUserId('')
      }}
    >
      <Select
        aria-label="Member to add"
        value={userId}
        onChange={event => setUserId(event.target.value)}
        options={[{ value: '', label: 'Add a member of the organization…' }, ...missing.map(memberOption)]}
      />
      <Button type="submit" refusal={userId ? null : 'Select a member first.'} isPending={change.isPending}>
        Add member
      </Button>
    </form>
  )
}

function memberOption({ user, workspace_role: role }: Member) {
  return { value: user.id, label: `${user.name} (${user.email}) as ${workspaceRoleNames[role].toLowerCase()}` }
}

/** Changes the role of a member in the workspace. Without a role it is their default role. */
function useMemberChange() {
  const { workspace } = useWorkspace()
  return useChange({
    run: ({ userId, role }: { userId: string; role?: WorkspaceRole }) =>
      call('putWorkspaceMember', { ws: workspace.id, user: userId, body: role ? { role } : {} }),
  })
}
