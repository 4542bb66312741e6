import type { Workspace } from '@belfry/contract/workspace'
import type { Action } from '@belfry/domain/permissions'
import {
  Clock,
  Crosshair,
  Inbox,
  ListOrdered,
  type LucideIcon,
  Radio,
  ScrollText,
  Settings,
  Skull,
  SquareActivity,
  Timer,
} from 'lucide-react'
import { useMemo } from 'react'
import { useLocation } from 'react-router'
import { paths } from '../paths.ts'
import { lastPlace } from '../session/last-place.ts'
import { useOrganization } from '../session/scope.ts'
import { useRights } from '../session/use-rights.ts'

export type NavigationItem = { label: string; to: string; icon: LucideIcon; isCurrent: boolean }
export type NavigationGroup = { label: string; items: Array<{ label: string; to: string }> }

/** Returns the pages of the workspace, in the order of the sidebar. */
export function useWorkspaceNavigation(): NavigationItem[] {
  const { organization } = useOrganization()
  const workspace = useShellWorkspace()
  const { pathname } = useLocation()
  const mayReadKeys = useRights(workspace?.id).can('api_key.read').allowed
  return useMemo(() => {
    const page = (label: string, to: string, icon: LucideIcon) => ({
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
    const settings = { ...page('Settings', settingsPath, Settings), isCurrent: isSettings }
    if (!workspace) return [settings]
    const to = paths.workspace(organization.slug, workspace.id)
    return [
      { ...page('Overview', to.overview(), SquareActivity), isCurrent: pathname === to.overview() },
      page('Tasks', to.tasks(), Timer),
      page('Cron jobs', to.cronJobs(), Clock),
      page('Events', to.events(), Radio),
      page('Subscriptions', to.subscriptions(), Inbox),
      page('Activity log', to.log(), ScrollText),
      page('Queues', to.queues(), ListOrdered),
      page('Targets', to.targets(), Crosshair),
      page('Dead letters', to.deadLetters(), Skull),
      settings,
    ]
  }, [organization.slug, workspace, pathname, mayReadKeys])
}

/** Returns the settings pages that the signed-in user may open. */
export function useSettingsNavigation(): NavigationGroup[] {
  const { organization } = useOrganization()
  const workspace = useShellWorkspace()
  const { can } = useRights(workspace?.id)
  const { slug } = organization
  type Entry = readonly [label: string, to: string, right: Action]
  const group = (label: string, entries: readonly Entry[]): NavigationGroup => ({
    label,
    items: entries.filter(([, , right]) => can(right).allowed).map(([label, to]) => ({ label, to })),
  })
  const groups = [
    group(`Organization: ${organization.name}`, [
      ['General', paths.settings(slug, 'general'), 'organization.read'],
      ['Members', paths.settings(slug, 'members'), 'member.read'],
      ['Invitations', paths.settings(slug, 'invitations'), 'invitation.read'],
      ['Policy', paths.settings(slug, 'policy'), 'organization.read'],
      ['Workspaces', paths.settings(slug, 'workspaces'), 'workspace.list'],
      ['Usage and limits', paths.settings(slug, 'usage'), 'usage.read'],
      ['Audit log', paths.settings(slug, 'audit-log'), 'audit_log.read'],
    ]),
  ]
  if (workspace) {
    const to = paths.workspace(slug, workspace.id)
    groups.unshift(
      group(`Workspace: ${workspace.name}`, [
        ['API keys', to.settings('api-keys'), 'api_key.read'],
        ['Federated credentials', to.settings('federated-credentials'), 'federated_credential.read'],
        ['Secrets', to.settings('secrets'), 'secret.read'],
        ['Connections', to.settings('connections'), 'connection.read'],
        ['Signing secrets', to.settings('signing-secrets'), 'signing_secret.read'],
        ['Integrations', to.settings('integrations'), 'integration.read'],
        ['Workspace members', to.settings('members'), 'workspace_member.read'],
      ]),
    )
  }
  return groups.filter(({ items }) => items.length > 0)
}

/** Returns the workspace of the navigation: from the URL, else the last one visited, else the oldest. */
export function useShellWorkspace(): Workspace | undefined {
  const { workspace, workspaces } = useOrganization()
  if (workspace) return workspace
  const last = lastPlace()?.ws
  return workspaces.find(({ id }) => id === last) ?? workspaces.at(-1)
}
