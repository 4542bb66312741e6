import { useSuspenseQuery } from '@tanstack/react-query'
import { Building2, Check, ChevronsUpDown, Plus, Search } from 'lucide-react'
import { type ReactNode, useEffect, useMemo } from 'react'
import { Link, Outlet, useNavigate } from 'react-router'
import { queryOf } from '../api/queries.ts'
import { paths } from '../paths.ts'
import { rememberPlace } from '../session/last-place.ts'
import { useOrganization } from '../session/scope.ts'
import { useRights } from '../session/use-rights.ts'
import { IconButton } from '../ui/button.tsx'
import { Select } from '../ui/field.tsx'
import { Menu, MenuItem, MenuLabel, MenuSeparator } from '../ui/menu.tsx'
import { chooseTimeStyle, type TimeStyle, timeStyles, useTimeStyle } from '../ui/time-style.ts'
import { Bell } from './bell.tsx'
import { type Command, useCommands } from './commands.tsx'
import { InShell } from './error-page.tsx'
import { Keyboard, showPalette } from './keyboard.tsx'
import { useSettingsNavigation, useShellWorkspace, useWorkspaceNavigation } from './navigation.ts'
import { Notices } from './notices.tsx'
import { PagesButton } from './pages-button.tsx'
import styles from './shell.module.css'
import { UserMenu } from './user-menu.tsx'

/** The frame around every page of an organization. */
export function Shell(): ReactNode {
  const { organization, workspace } = useOrganization()
  const shown = useShellWorkspace()
  useEffect(() => {
    if (workspace) rememberPlace(paths.workspace(organization.slug, workspace.id).overview())
  }, [organization.slug, workspace])
  useShellCommands()
  return (
    <div className={styles.shell}>
      <a href="#main" className={styles.skip}>
        Skip to content
      </a>
      <Sidebar />
      <header className={styles.bar}>
        <PagesButton>
          <Sidebar />
        </PagesButton>
        <strong>{shown?.name ?? organization.name}</strong>
        <IconButton label="Commands" icon={<Search size={17} />} onClick={showPalette} />
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
      <button type="button" className={styles.search} onClick={showPalette}>
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

function useShellCommands(): void {
  const { organization } = useOrganization()
  const workspace = useShellWorkspace()
  const navigate = useNavigate()
  const pages = useWorkspaceNavigation()
  const settings = useSettingsNavigation()
  const { can } = useRights(workspace?.id)
  const mayWriteTasks = can('task.write').allowed
  const mayWriteCronJobs = can('cron_job.write').allowed
  const settingsKey = JSON.stringify(settings)
  const commands = useMemo(() => {
    const go = (group: string, label: string, to: string): Command => ({
      id: to,
      label,
      group,
      run: () => void navigate(to),
    })
    const to = workspace ? paths.workspace(organization.slug, workspace.id) : null
    const groups: typeof settings = JSON.parse(settingsKey) // serialized above
    return [
      ...(to && mayWriteTasks ? [go('Create', 'New task', to.newTask())] : []),
      ...(to && mayWriteCronJobs ? [go('Create', 'New cron job', to.newCronJob())] : []),
      ...pages.map(({ label, to }) => go('Go to', label, to)),
      ...groups.flatMap(({ items }) => items.map(({ label, to }) => go('Settings', label, to))),
      go('Settings', 'Profile', paths.profile()),
    ]
  }, [organization.slug, workspace, navigate, pages, settingsKey, mayWriteTasks, mayWriteCronJobs])
  useCommands(commands)
}

/** Shows the current workspace and switches to others. */
function Switcher(): ReactNode {
  const { data: me } = useSuspenseQuery(queryOf('getMe'))
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
