import { useSuspenseQuery } from '@tanstack/react-query'
import { Building2, Check, ChevronsUpDown, Plus } from 'lucide-react'
import type { ReactNode } from 'react'
import { meQuery } from '../api/session.ts'
import { paths } from '../paths.ts'
import { useOrganization } from '../session/scope.ts'
import { useRights } from '../session/use-rights.ts'
import { Menu, MenuItem, MenuLabel, MenuSeparator } from '../ui/menu.tsx'
import { Bell } from './bell.tsx'
import { useShellWorkspace } from './navigation.ts'
import styles from './shell.module.css'

/** Shows the current workspace and switches to others. */
export function Switcher(): ReactNode {
  const { data: me } = useSuspenseQuery(meQuery)
  const { organization, workspaces } = useOrganization()
  const workspace = useShellWorkspace()
  const mayCreate = useRights().can('workspace.create')
  const trigger = (
    <button type="button" className={styles.switcher}>
      <Bell size={26} />
      <span>
        <strong>{workspace?.name ?? 'No workspace'}</strong>
        <span>{organization.name}</span>
      </span>
      <ChevronsUpDown size={15} aria-hidden="true" />
    </button>
  )
  return (
    <Menu trigger={trigger}>
      <MenuLabel>Workspaces of {organization.name}</MenuLabel>
      {workspaces.map(({ id, name }) => (
        <MenuItem
          key={id}
          to={paths.workspace(organization.slug, id).overview()}
          icon={<Mark isOn={id === workspace?.id} />}
        >
          {name}
        </MenuItem>
      ))}
      <MenuItem
        to={`${paths.settings(organization.slug, 'workspaces')}?new=1`}
        icon={<Plus size={15} />}
        refusal={mayCreate.allowed ? null : mayCreate.reason}
      >
        New workspace
      </MenuItem>
      <MenuSeparator />
      <MenuLabel>Organizations</MenuLabel>
      {me.organizations.map(({ id, name, slug }) => (
        <MenuItem key={id} to={paths.organization(slug)} icon={<Mark isOn={id === organization.id} />}>
          {name}
        </MenuItem>
      ))}
      <MenuItem to={paths.welcome()} icon={<Building2 size={15} />}>
        New organization
      </MenuItem>
    </Menu>
  )
}

function Mark({ isOn }: { isOn: boolean }): ReactNode {
  return <Check size={15} aria-hidden="true" visibility={isOn ? 'visible' : 'hidden'} />
}
