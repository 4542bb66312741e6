import type { Member, WorkspaceMember } from '@belfry/contract/member'
import { type WorkspaceRole, workspaceRoles } from '@belfry/domain/permissions'
import { useInfiniteQuery, useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { UserMinus, Users } from 'lucide-react'
import { type ReactNode, useState } from 'react'
import { membersQuery } from '../../api/members.ts'
import { meQuery } from '../../api/session.ts'
import { putWorkspaceMember, removeWorkspaceMember, workspaceMembersQuery } from '../../api/workspaces.ts'
import { useChange } from '../../forms/use-change.ts'
import { useRefusal } from '../../session/allowed.tsx'
import { useOrganization, useWorkspace } from '../../session/scope.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Select } from '../../ui/field.tsx'
import { PageHeader } from '../../ui/page-header.tsx'
import { Problem } from '../../ui/problem.tsx'
import { Table } from '../../ui/table.tsx'
import { workspaceRoleMeanings, workspaceRoleNames } from './role-names.ts'
import styles from './settings.module.css'
import { UserName } from './user-name.tsx'

export function WorkspaceMembers(): ReactNode {
  const { workspace } = useWorkspace()
  const { data: me } = useSuspenseQuery(meQuery)
  const list = useQuery(workspaceMembersQuery(workspace.id))
  const refusal = useRefusal('workspace_member.manage')
  const change = useMemberChange()
  return (
    <>
      <PageHeader
        title="Workspace members"
        description={`Members of the organization see ${workspace.name} only if they are added here. Owners and admins see every workspace.`}
      />
      {list.error && <Problem error={list.error} onRetry={() => void list.refetch()} />}
      {refusal === null && list.data && <AddMember present={list.data} />}
      {list.data?.length === 0 ? (
        <EmptyState icon={<Users size={22} aria-hidden="true" />} title="No members">
          Only owners and admins see this workspace.
        </EmptyState>
      ) : (
        <Table
          label="Workspace members"
          rows={list.data}
          rowKey={({ user }) => user.id}
          columns={[
            { id: 'name', header: 'Name', cell: ({ user }) => <UserName user={user} isYou={user.id === me.user.id} /> },
            {
              id: 'role',
              header: 'Role',
              cell: ({ user, role }) =>
                refusal ? (
                  <span title={workspaceRoleMeanings[role]}>{workspaceRoleNames[role]}</span>
                ) : (
                  <Select
                    aria-label={`Role of ${user.name}`}
                    value={role}
                    onChange={event => change.mutate({ userId: user.id, role: event.target.value as WorkspaceRole })} // one of the options below
                  >
                    {workspaceRoles.map(one => (
                      <option key={one} value={one} title={workspaceRoleMeanings[one]}>
                        {workspaceRoleNames[one]}
                      </option>
                    ))}
                  </Select>
                ),
            },
          ]}
          actions={({ user }) =>
            refusal === null && (
              <IconButton
                label={`Remove ${user.name} from the workspace`}
                icon={<UserMinus size={16} />}
                onClick={() => change.mutate({ userId: user.id, role: null })}
              />
            )
          }
        />
      )}
    </>
  )
}

/** Adds a member of the organization to the workspace. */
function AddMember({ present }: { present: WorkspaceMember[] }): ReactNode {
  const { organization } = useOrganization()
  const [userId, setUserId] = useState('')
  const { data } = useInfiniteQuery(membersQuery(organization.id))
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
      <Select aria-label="Member to add" value={userId} onChange={event => setUserId(event.target.value)}>
        <option value="">Add a member of the organization…</option>
        {missing.map(({ user, workspace_role }) => (
          <option key={user.id} value={user.id}>
            {user.name} ({user.email}) as {workspaceRoleNames[workspace_role].toLowerCase()}
          </option>
        ))}
      </Select>
      <Button type="submit" refusal={userId ? null : 'Select a member first.'} isPending={change.isPending}>
        Add member
      </Button>
    </form>
  )
}

/** Changes the role of a member in the workspace. Without a role it is their default role; null removes them. */
function useMemberChange() {
  const { workspace } = useWorkspace()
  return useChange({
    async run({ userId, role }: { userId: string; role?: WorkspaceRole | null }) {
      if (role === null) await removeWorkspaceMember(workspace.id, userId)
      else await putWorkspaceMember(workspace.id, userId, role ? { role } : {})
    },
    affects: [['workspace-members', workspace.id]],
  })
}
