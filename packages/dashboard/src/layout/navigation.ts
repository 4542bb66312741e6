import type { Action } from '@belfry/domain/permissions'
import { Clock, Inbox, type LucideIcon, Radio, ScrollText, Settings, Skull, SquareActivity, Timer } from 'lucide-react'
import { useMemo } from 'react'
import { paths } from '../paths.ts'
import { useOrganization } from '../session/scope.ts'
import { useRights } from '../session/use-rights.ts'
import { useShellWorkspace } from './use-shell-workspace.ts'

export type NavigationItem = { label: string; to: string; icon?: LucideIcon; isExact?: boolean }
export type NavigationGroup = { label: string; items: NavigationItem[] }

/** The pages of a workspace, in the order of the sidebar. */
export function useWorkspaceNavigation(): NavigationItem[] {
  const { organization } = useOrganization()
  const workspace = useShellWorkspace()
  return useMemo(() => {
    const settings = { label: 'Settings', to: paths.settings(organization.slug), icon: Settings }
    if (!workspace) return [settings]
    const to = paths.workspace(organization.slug, workspace.id)
    return [
      { label: 'Overview', to: to.overview(), icon: SquareActivity, isExact: true },
      { label: 'Tasks', to: to.tasks(), icon: Timer },
      { label: 'Cron jobs', to: to.cronJobs(), icon: Clock },
      { label: 'Events', to: to.events(), icon: Radio },
      { label: 'Subscriptions', to: to.subscriptions(), icon: Inbox },
      { label: 'Activity log', to: to.log(), icon: ScrollText },
      { label: 'Dead letters', to: to.deadLetters(), icon: Skull },
      settings,
    ]
  }, [organization.slug, workspace])
}

/** The pages of the settings that the signed-in user may open. */
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
    group('Organization', [
      ['General', paths.settings(slug, 'general'), 'organization.read'],
      ['Members', paths.settings(slug, 'members'), 'member.read'],
      ['Invitations', paths.settings(slug, 'invitations'), 'invitation.read'],
      ['Policy', paths.settings(slug, 'policy'), 'organization.read'],
      ['Workspaces', paths.settings(slug, 'workspaces'), 'workspace.list'],
      ['Tier and usage', paths.settings(slug, 'usage'), 'usage.read'],
      ['Audit log', paths.settings(slug, 'audit-log'), 'audit_log.read'],
    ]),
  ]
  if (workspace) {
    const to = paths.workspace(slug, workspace.id)
    groups.unshift(
      group(workspace.name, [
        ['API keys', to.settings('api-keys'), 'api_key.read'],
        ['Secrets', to.settings('secrets'), 'secret.read'],
        ['Signing secrets', to.settings('signing-secrets'), 'signing_secret.read'],
        ['Integrations', to.settings('integrations'), 'integration.read'],
      ]),
    )
  }
  return groups.filter(({ items }) => items.length > 0)
}
