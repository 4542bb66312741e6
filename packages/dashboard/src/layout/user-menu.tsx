import { useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { LogOut, Monitor, Moon, Sun, UserRound } from 'lucide-react'
import type { ReactNode } from 'react'
import { useNavigate } from 'react-router'
import { messageOf } from '../api/api-problem.ts'
import { call } from '../api/call.ts'
import { queryOf } from '../api/queries.ts'
import { dropDrafts } from '../forms/kept-drafts.ts'
import { paths } from '../paths.ts'
import { Menu, MenuItem, MenuLabel, MenuSeparator } from '../ui/menu.tsx'
import { useToast } from '../ui/toast.tsx'
import styles from './shell.module.css'
import { chooseTheme } from './theme.ts'

/** The menu of the signed-in user: profile, theme and sign-out. */
export function UserMenu(): ReactNode {
  const { data: me } = useSuspenseQuery(queryOf('getMe'))
  const client = useQueryClient()
  const navigate = useNavigate()
  const toast = useToast()
  const leave = async () => {
    try {
      const { url } = await call('logoutOidc')
      dropDrafts()
      if (url !== null) return location.assign(url)
      await navigate(paths.signIn())
      client.clear()
    } catch (error) {
      toast(messageOf(error), 'bad')
    }
  }
  const trigger = (
    <button type="button" className={styles.user}>
      <span className={styles.avatar} aria-hidden="true">
        {me.user.name.slice(0, 1).toUpperCase()}
      </span>
      {me.user.name}
    </button>
  )
  return (
    <Menu trigger={trigger}>
      <MenuLabel>{me.user.email}</MenuLabel>
      <MenuItem to={paths.profile()} icon={<UserRound size={15} />}>
        Profile
      </MenuItem>
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
      <MenuItem icon={<LogOut size={15} />} onSelect={() => void leave()}>
        Sign out
      </MenuItem>
    </Menu>
  )
}
