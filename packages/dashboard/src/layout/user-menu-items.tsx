import { useSuspenseQuery } from '@tanstack/react-query'
import { LogOut, Monitor, Moon, ShieldUser, Sun, UserRound } from 'lucide-react'
import type { ReactNode } from 'react'
import { queryOf } from '../api/queries.ts'
import { paths } from '../paths.ts'
import { MenuItem, MenuLabel, MenuSeparator } from '../ui/open-menu.tsx'
import { chooseTheme } from './theme.ts'
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
      <MenuItem icon={<Monitor size={15} />} onSelect={() => chooseTheme('system')}>
        System theme
      </MenuItem>
      <MenuItem icon={<Sun size={15} />} onSelect={() => chooseTheme('light')}>
        Light theme
      </MenuItem>
      <MenuItem icon={<Moon size={15} />} onSelect={() => chooseTheme('dark')}>
        Dark theme
      </MenuItem>
      <MenuSeparator />
      <MenuItem icon={<LogOut size={15} />} onSelect={() => void signOut()}>
        Sign out
      </MenuItem>
    </>
  )
}
