import { useSuspenseQuery } from '@tanstack/react-query'
import { LogOut, ShieldUser, UserRound } from 'lucide-react'
import type { ReactNode } from 'react'
import { queryOf } from '../api/queries.ts'
import { paths } from '../paths.ts'
import { MenuItem, MenuLabel, MenuSeparator } from '../ui/open-menu.tsx'
import { chooseTheme, themes } from './theme.ts'
import { useSignOut } from './use-sign-out.ts'

/** What the menu of the signed-in user offers: profile, theme and sign-out. */
export function UserMenuItems(): ReactNode {
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
