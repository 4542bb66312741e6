import { useSuspenseQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { queryOf } from '../api/queries.ts'
import { latePart } from '../ui/late-part.tsx'
import { Menu } from '../ui/menu.tsx'
import styles from './shell.module.css'

const UserMenuItems = latePart(async () => (await import('./user-menu-items.tsx')).UserMenuItems)

/** The button of the signed-in user, with a menu. */
export function UserMenu(): ReactNode {
  const { data: me } = useSuspenseQuery(queryOf('getMe'))
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
      <UserMenuItems />
    </Menu>
  )
}
