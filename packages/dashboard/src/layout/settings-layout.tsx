import type { ReactNode } from 'react'
import { NavLink, Outlet } from 'react-router'
import { useSettingsNavigation } from './navigation.ts'
import styles from './shell.module.css'

/** The settings of a workspace and of its organization, with the list of both beside them. */
export function SettingsLayout(): ReactNode {
  const groups = useSettingsNavigation()
  return (
    <div className={styles.settings}>
      <nav className={styles.nav} aria-label="Settings">
        {groups.map(({ label, items }) => [
          <h2 key={label}>{label}</h2>,
          ...items.map(item => (
            <NavLink key={item.to} to={item.to}>
              {item.label}
            </NavLink>
          )),
        ])}
      </nav>
      <div>
        <Outlet />
      </div>
    </div>
  )
}
