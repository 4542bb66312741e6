import { useQuery, useSuspenseQuery } from '@tanstack/react-query'
import { ChevronsUpDown, Menu as MenuIcon, Search } from 'lucide-react'
import { type ReactNode, useEffect, useState } from 'react'
import { Link, Outlet, useLocation } from 'react-router'
import { queryOf } from '../api/queries.ts'
import { paths } from '../paths.ts'
import { rememberPlace } from '../session/last-place.ts'
import { useOrganization } from '../session/scope.ts'
import { Button, IconButton } from '../ui/button.tsx'
import { Select } from '../ui/field.tsx'
import { formatCounted } from '../ui/format-amount.ts'
import { latePart } from '../ui/late-part.tsx'
import { Menu } from '../ui/menu.tsx'
import { moveRow } from '../ui/move-row.ts'
import { chooseTimeStyle, type TimeStyle, timeStyles, useTimeStyle } from '../ui/time-style.ts'
import { Bell } from './bell.tsx'
import { InShell } from './error-page.tsx'
import type { Opened } from './keyboard.tsx'
import { type NavigationItem, useShellWorkspace, useWorkspaceNavigation } from './navigation.ts'
import { Notices, statusQuery } from './notices.tsx'
import styles from './shell.module.css'

const Keyboard = latePart(async () => (await import('./keyboard.tsx')).Keyboard)
const OpenPanel = latePart(async () => (await import('../ui/open-dialog.tsx')).OpenPanel)
const SwitcherItems = latePart(async () => (await import('./shell-menus.tsx')).SwitcherItems)
const UserMenuItems = latePart(async () => (await import('./shell-menus.tsx')).UserMenuItems)

/** The frame around every page of an organization. */
export function Shell() {
  const { organization, workspace } = useOrganization()
  const shown = useShellWorkspace()
  const pages = useWorkspaceNavigation()
  const { data: deadLetters } = useQuery({ ...statusQuery(shown?.id), select: status => status.dead_letters })
  const [open, setOpen] = useState<Opened>(null)
  const showPalette = () => setOpen({ part: 'palette' })
  useEffect(() => {
    if (workspace) rememberPlace(paths.workspace(organization.slug, workspace.id).overview())
  }, [organization.slug, workspace])
  return (
    <Frame
      title={shown?.name ?? organization.name}
      head={
        <>
          <Switcher onSearch={() => setOpen({ part: 'palette', group: 'Workspaces' })} />
          <button type="button" className={styles.search} onClick={showPalette}>
            Search or go to <kbd>Ctrl K</kbd>
          </button>
        </>
      }
      pages={pages.map(page => <PageLink key={page.to} {...page} count={(page.isCounted && deadLetters) || 0} />)}
      foot={<TimeStyleSelect />}
      skip={
        <button
          type="button"
          className={styles.skip}
          onClick={() => moveRow(1) || document.getElementById('main')?.focus()}
        >
          Skip to list
        </button>
      }
      button={<IconButton label="Commands" icon={<Search size={17} />} onClick={showPalette} />}
      notices={shown && <Notices workspaceId={shown.id} />}
    >
      <Keyboard open={open} onOpen={setOpen} />
    </Frame>
  )
}

// The number that the API counts to.
const maxCounted = 1_000

function PageLink({ label, to, icon: Icon, isCurrent, count }: NavigationItem & { count: number }) {
  const counted = formatCounted(count, count >= maxCounted)
  return (
    <Link
      to={to}
      aria-current={isCurrent ? 'page' : undefined}
      aria-label={count > 0 ? `${label}, ${counted}` : undefined}
    >
      <Icon size={16} />
      {label}
      {count > 0 && <span className={styles.count}>{counted}</span>}
    </Link>
  )
}

type FrameProps = {
  /** The title of the bar, on narrow screens. */
  title: string
  /** The start of the sidebar. */
  head: ReactNode
  pages: ReactNode
  /** The end of the sidebar, before the menu of the user. */
  foot?: ReactNode
  /** The second link of the page. */
  skip?: ReactNode
  /** The button of the bar. */
  button?: ReactNode
  /** Shown above each page. */
  notices?: ReactNode
  children?: ReactNode
}

/** A sidebar beside the current page; a bar with a button that opens the sidebar on narrow screens. */
export function Frame(props: FrameProps) {
  const sidebar = (
    <aside className={styles.sidebar} aria-label="Sidebar">
      {props.head}
      <nav className={styles.nav} aria-label="Pages">
        {props.pages}
      </nav>
      <div className={styles.foot}>
        {props.foot}
        <UserMenu />
      </div>
    </aside>
  )
  return (
    <div className={styles.shell}>
      <a href="#main" className={styles.skip}>
        Skip to content
      </a>
      {props.skip}
      {sidebar}
      <header className={styles.bar}>
        <PagesButton>{sidebar}</PagesButton>
        <strong>{props.title}</strong>
        {props.button}
      </header>
      <main id="main" className={styles.main} tabIndex={-1}>
        {props.notices}
        <InShell value={true}>
          <Outlet />
        </InShell>
      </main>
      {props.children}
    </div>
  )
}

/** Opens the sidebar over the page. A navigation closes it. */
function PagesButton({ children }: { children: ReactNode }) {
  const [isOpen, setIsOpen] = useState(false)
  const { pathname } = useLocation()
  useEffect(() => setIsOpen(false), [pathname])
  return (
    <>
      <Button
        kind="quiet"
        aria-label="Pages"
        aria-haspopup="dialog"
        aria-expanded={isOpen}
        icon={<MenuIcon size={18} />}
        onClick={() => setIsOpen(true)}
      />
      {isOpen && (
        <OpenPanel title="Pages" className={styles.drawer} onClose={() => setIsOpen(false)}>
          {children}
        </OpenPanel>
      )}
    </>
  )
}

function TimeStyleSelect() {
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

function Switcher({ onSearch }: { onSearch(): void }) {
  const { organization } = useOrganization()
  const workspace = useShellWorkspace()
  const trigger = (
    <button type="button" className={styles.switcher}>
      <Bell size={26} />
      <span>
        <strong>{workspace?.name ?? 'No workspace'}</strong>
        <span>{organization.name}</span>
      </span>
      <ChevronsUpDown size={15} />
    </button>
  )
  return (
    <Menu trigger={trigger}>
      <SwitcherItems onSearch={onSearch} />
    </Menu>
  )
}

function UserMenu() {
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
