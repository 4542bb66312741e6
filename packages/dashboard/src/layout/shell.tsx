import { ChevronsUpDown, Search } from 'lucide-react'
import { type ReactNode, useEffect } from 'react'
import { Link, Outlet } from 'react-router'
import { paths } from '../paths.ts'
import { rememberPlace } from '../session/last-place.ts'
import { useOrganization } from '../session/scope.ts'
import { IconButton } from '../ui/button.tsx'
import { Select } from '../ui/field.tsx'
import { latePart } from '../ui/late-part.tsx'
import { Menu } from '../ui/menu.tsx'
import { moveRow } from '../ui/move-row.ts'
import { chooseTimeStyle, type TimeStyle, timeStyles, useTimeStyle } from '../ui/time-style.ts'
import { Bell } from './bell.tsx'
import { InShell } from './error-page.tsx'
import { useShellWorkspace, useWorkspaceNavigation } from './navigation.ts'
import { Notices } from './notices.tsx'
import { PagesButton } from './pages-button.tsx'
import styles from './shell.module.css'
import { showPalette } from './show-palette.ts'
import { UserMenu } from './user-menu.tsx'

const Keyboard = latePart(async () => (await import('./keyboard.tsx')).Keyboard)
const SwitcherItems = latePart(async () => (await import('./switcher-items.tsx')).SwitcherItems)

/** The frame around every page of an organization. */
export function Shell(): ReactNode {
  const { organization, workspace } = useOrganization()
  const shown = useShellWorkspace()
  useEffect(() => {
    if (workspace) rememberPlace(paths.workspace(organization.slug, workspace.id).overview())
  }, [organization.slug, workspace])
  return (
    <div className={styles.shell}>
      <a href="#main" className={styles.skip}>
        Skip to content
      </a>
      <button
        type="button"
        className={styles.skip}
        onClick={() => moveRow(1) || document.getElementById('main')?.focus()}
      >
        Skip to list
      </button>
      <Sidebar />
      <header className={styles.bar}>
        <PagesButton>
          <Sidebar />
        </PagesButton>
        <strong>{shown?.name ?? organization.name}</strong>
        <IconButton label="Commands" icon={<Search size={17} />} onClick={() => showPalette()} />
      </header>
      <main id="main" className={styles.main} tabIndex={-1}>
        {shown && <Notices workspaceId={shown.id} />}
        <InShell value={true}>
          <Outlet />
        </InShell>
      </main>
      <Keyboard />
    </div>
  )
}

function Sidebar(): ReactNode {
  const items = useWorkspaceNavigation()
  return (
    <aside className={styles.sidebar} aria-label="Sidebar">
      <Switcher />
      <button type="button" className={styles.search} onClick={() => showPalette()}>
        Search or go to <kbd>Ctrl K</kbd>
      </button>
      <nav className={styles.nav} aria-label="Pages">
        {items.map(({ label, to, icon: Icon, isCurrent }) => (
          <Link key={to} to={to} aria-current={isCurrent ? 'page' : undefined}>
            <Icon size={16} aria-hidden="true" />
            {label}
          </Link>
        ))}
      </nav>
      <div className={styles.foot}>
        <TimeStyleSelect />
        <UserMenu />
      </div>
    </aside>
  )
}

function TimeStyleSelect(): ReactNode {
  const style = useTimeStyle()
  return (
    <Select
      className={styles.times}
      aria-label="Times"
      value={style}
      onChange={event => chooseTimeStyle(event.target.value as TimeStyle)} // one of the options
      options={timeStyles}
    />
  )
}

/** Shows the current workspace and switches to others. */
function Switcher(): ReactNode {
  const { organization } = useOrganization()
  const workspace = useShellWorkspace()
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
      <SwitcherItems />
    </Menu>
  )
}
