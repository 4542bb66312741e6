import { useEffect, useRef } from 'react'
import { NavLink, Outlet, useLocation } from 'react-router'
import { useSettingsNavigation } from './navigation.ts'
import styles from './shell.module.css'

export function SettingsLayout() {
  const groups = useSettingsNavigation()
  const { pathname } = useLocation()
  const list = useRef<HTMLElement>(null)
  // On a narrow screen the navigation scrolls sideways, and the current page may be out of view.
  useEffect(() => {
    const current = list.current?.querySelector(`a[href="${CSS.escape(pathname)}"]`)
    current?.scrollIntoView({ block: 'nearest', inline: 'center' })
  }, [pathname])
  return (
    <div className={styles.settings}>
      <nav ref={list} className={styles.nav} aria-label="Settings">
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
