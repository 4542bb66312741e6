import type { Action } from '@belfry/domain/permissions'
import { useSuspenseQuery } from '@tanstack/react-query'
import { useNavigate } from 'react-router'
import { queryOf } from '../api/queries.ts'
import { paths } from '../paths.ts'
import { useOrganization, useRights } from '../session/scope.ts'
import { useSettingsNavigation, useShellWorkspace, useWorkspaceNavigation } from './navigation.ts'
import { keysText } from './shortcuts.ts'
import { chooseTheme, themes } from './theme.ts'
import { useSignOut } from './use-sign-out.ts'

export type Command = {
  id: string
  label: string
  /** The heading above the command. */
  group: string
  /** The keys that do the same. */
  keys?: string
  run(): unknown
}

/** Returns the commands that the signed-in user may run, except for commands on single objects. */
export function usePaletteCommands(): Command[] {
  const { organization, workspaces } = useOrganization()
  const workspace = useShellWorkspace()
  const { can } = useRights(workspace?.id)
  const { data: me } = useSuspenseQuery(queryOf('getMe'))
  const navigate = useNavigate()
  const pages = useWorkspaceNavigation()
  const settings = useSettingsNavigation()
  const signOut = useSignOut()
  const go = (group: string, label: string, to: string): Command => ({
    id: `${group} ${to}`,
    label,
    group,
    run: () => navigate(to),
  })
  const overviewOf = (id: string) => paths.workspace(organization.slug, id).overview()
  const to = workspace && paths.workspace(organization.slug, workspace.id)
  const forms: ReadonlyArray<readonly [right: Action, label: string, to: string]> = to
    ? [
        ['task.write', 'New task', to.newTask()],
        ['cron_job.write', 'New cron job', to.newCronJob()],
        ['event.publish', 'Publish event', `${to.events()}?new=1`],
        ['subscription.write', 'New subscription', `${to.subscriptions()}?new=1`],
        ['queue.write', 'New queue', `${to.queues()}?new=1`],
        ['secret.write', 'New secret', `${to.settings('secrets')}?new=1`],
        ['api_key.create', 'New API key', `${to.settings('api-keys')}?new=1`],
      ]
    : []
  return [
    ...forms.filter(([right]) => can(right).allowed).map(([, label, to]) => go('Create', label, to)),
    ...pages.map(({ letter, label, to }) => ({ ...go('Go to', label, to), keys: keysText(`g ${letter}`) })),
    ...settings.flatMap(({ items }) => items.map(({ label, to }) => go('Settings', label, to))),
    ...workspaces.map(({ id, name }) => go('Workspaces', name, overviewOf(id))),
    ...me.organizations.map(({ name, slug }) => go('Organizations', name, paths.organization(slug))),
    ...themes.map(({ id, label }) => ({ id, label, group: 'Appearance', run: () => chooseTheme(id) })),
    go('Account', 'Profile', paths.profile()),
    ...(me.is_operator ? [go('Account', 'Operator console', paths.admin.tenants())] : []),
    { id: 'sign out', label: 'Sign out', group: 'Account', run: signOut },
  ]
}
