import type { Workspace } from '@belfry/contract/workspace'
import {
  Clock,
  Inbox,
  ListOrdered,
  type LucideIcon,
  Radio,
  ScrollText,
  Server,
  Settings,
  Skull,
  SquareActivity,
  Timer,
} from 'lucide-react'
import { useMemo } from 'react'
import { useLocation } from 'react-router'
import { organizationSettings, paths, type SettingsPages, workspaceSettings } from '../paths.ts'
import { lastPlace } from '../session/last-place.ts'
import { useOrganization, useRights } from '../session/scope.ts'

export type NavigationItem = {
  label: string
  to: string
  icon: LucideIcon
  /** The key that opens the page after G. */
  letter: string
  isCurrent: boolean
  /** Whether the sidebar counts dead letters beside the link. */
  isCounted?: boolean
}

/** Returns the pages of the workspace, in the order of the sidebar. */
export function useWorkspaceNavigation(): NavigationItem[] {
  const { organization } = useOrganization()
  const workspace = useShellWorkspace()
  const { pathname } = useLocation()
  const mayReadKeys = useRights(workspace?.id).can('api_key.read').allowed
  return useMemo(() => {
    const page = (letter: string, label: string, to: string, icon: LucideIcon) => ({
      letter,
      label,
      to,
      icon,
      isCurrent: `${pathname}/`.startsWith(`${to}/`),
    })
    // Settings of the workspace or of the organization.
    const isSettings = /^\/[^/]+\/(w\/[^/]+\/)?settings\//.test(pathname)
    const settingsPath =
      workspace && mayReadKeys
        ? paths.workspace(organization.slug, workspace.id).settings('api-keys')
        : paths.settings(organization.slug)
    const settings = { ...page('s', 'Settings', settingsPath, Settings), isCurrent: isSettings }
    if (!workspace) return [settings]
    const to = paths.workspace(organization.slug, workspace.id)
    return [
      { ...page('o', 'Overview', to.overview(), SquareActivity), isCurrent: pathname === to.overview() },
      page('t', 'Tasks', to.tasks(), Timer),
      page('c', 'Cron jobs', to.cronJobs(), Clock),
      page('e', 'Events', to.events(), Radio),
      page('b', 'Subscriptions', to.subscriptions(), Inbox),
      page('l', 'Activity log', to.log(), ScrollText),
      page('q', 'Queues', to.queues(), ListOrdered),
      page('h', 'Hosts', to.hosts(), Server),
      { ...page('d', 'Dead letters', to.deadLetters(), Skull), isCounted: true },
      settings,
    ]
  }, [organization.slug, workspace, pathname, mayReadKeys])
}

export function useSettingsNavigation() {
  const { organization } = useOrganization()
  const workspace = useShellWorkspace()
  const { can } = useRights(workspace?.id)
  const { slug } = organization
  const group = <Page extends string>(label: string, pages: SettingsPages<Page>, to: (page: Page) => string) => ({
    label,
    items: (Object.keys(pages) as Page[]) // its own keys
      .filter(page => can(pages[page][1]).allowed)
      .map(page => ({ label: pages[page][0], to: to(page) })),
  })
  const groups = [
    ...(workspace
      ? [group(`Workspace: ${workspace.name}`, workspaceSettings, paths.workspace(slug, workspace.id).settings)]
      : []),
    group(`Organization: ${organization.name}`, organizationSettings, page => paths.settings(slug, page)),
  ]
  return groups.filter(({ items }) => items.length > 0)
}

/** Returns the workspace of the navigation: from the URL, else the last one visited, else the oldest. */
export function useShellWorkspace(): Workspace | undefined {
  const { workspace, workspaces } = useOrganization()
  if (workspace) return workspace
  const last = lastPlace()?.ws
  return workspaces.find(({ id }) => id === last) ?? workspaces.at(-1)
}
