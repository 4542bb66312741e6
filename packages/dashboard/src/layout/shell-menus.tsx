import { useSuspenseQuery } from '@tanstack/react-query'
import { Building2, Check, LogOut, Plus, Search, ShieldUser, UserRound } from 'lucide-react'
import { queryOf } from '../api/queries.ts'
import { paths } from '../paths.ts'
import { useOrganization, useRefusal } from '../session/scope.ts'
import { MenuItem, MenuLabel, MenuSeparator } from '../ui/open-menu.tsx'
import { useShellWorkspace } from './navigation.ts'
import { chooseTheme, themes } from './theme.ts'
import { useSignOut } from './use-sign-out.ts'

export function UserMenuItems() {
  const { data: me } = useSuspenseQuery(queryOf('getMe'))
  const signOut = useSignOut()
  return (
    <>
      <MenuLabel>{me.user.email}</MenuLabel>
      <MenuItem to={paths.profile()} icon={<UserRound size={15} />}>
        Profile
      </MenuItem>
      {me.is_operator && (
        <MenuItem to={paths.admin.tenants()} icon={<ShieldUser size={15} />}>
          Operator console
        </MenuItem>
      )}
      <MenuSeparator />
      {themes.map(({ id, label, Icon }) => (
        <MenuItem key={id} icon={<Icon size={15} />} onSelect={() => chooseTheme(id)}>
          {label}
        </MenuItem>
      ))}
      <MenuSeparator />
      <MenuItem icon={<LogOut size={15} />} onSelect={() => void signOut()}>
        Sign out
      </MenuItem>
    </>
  )
}

// The palette finds the others.
const maxListed = 8

export function SwitcherItems({ onSearch }: { onSearch(): void }) {
  const { data: me } = useSuspenseQuery(queryOf('getMe'))
  const { organization, workspaces } = useOrganization()
  const workspace = useShellWorkspace()
  const listed = [...new Set([...(workspace ? [workspace] : []), ...workspaces])].slice(0, maxListed)
  const refusal = useRefusal('workspace.create')
  return (
    <>
      <MenuLabel>Workspaces of {organization.name}</MenuLabel>
      {listed.map(({ id, name }) => (
        <MenuItem
          key={id}
          to={paths.workspace(organization.slug, id).overview()}
          icon={<Mark isOn={id === workspace?.id} />}
        >
          {name}
        </MenuItem>
      ))}
      {workspaces.length > listed.length && (
        <MenuItem icon={<Search size={15} />} onSelect={onSearch}>
          Search {workspaces.length} workspaces…
        </MenuItem>
      )}
      <MenuItem
        to={`${paths.settings(organization.slug, 'workspaces')}?new=1`}
        icon={<Plus size={15} />}
        refusal={refusal}
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
    </>
  )
}

function Mark({ isOn }: { isOn: boolean }) {
  return <Check size={15} visibility={isOn ? 'visible' : 'hidden'} />
}
