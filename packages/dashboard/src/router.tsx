import type { QueryClient } from '@tanstack/react-query'
import type { ComponentType } from 'react'
import { Outlet, type RouteObject, redirect, ScrollRestoration, useNavigation } from 'react-router'
import { allOf, queryOf } from './api/queries.ts'
import { ErrorPage } from './layout/error-page.tsx'
import { lateScreen } from './layout/late-screen.tsx'
import { Shell } from './layout/shell.tsx'
import { useFocusOnPage } from './layout/use-focus-on-page.ts'
import { organizationSettings, paths, type SettingsPages, workspaceSettings } from './paths.ts'
import { PageFor } from './session/allowed.tsx'
import { lastPlace } from './session/last-place.ts'
import { loadScope } from './session/scope.ts'

/** Returns every screen in one table, each loaded on demand. */
export function createRoutes(client: QueryClient): RouteObject[] {
  return [
    {
      ErrorBoundary: ErrorPage,
      Component: Root,
      HydrateFallback: Boot,
      children: [
        { index: true, loader: () => toStart(client), Component: Nothing },
        screen('sign-in', () => import('./screens/sign-in/sign-in.tsx'), 'SignIn'),
        screen('register', () => import('./screens/sign-in/register.tsx'), 'Register'),
        screen('forgot-password', () => import('./screens/sign-in/password-reset.tsx'), 'ForgotPassword'),
        screen('confirm-alerts', () => import('./screens/sign-in/mail-links.tsx'), 'ConfirmAlerts'),
        screen('confirm-email', () => import('./screens/sign-in/mail-links.tsx'), 'ConfirmEmail'),
        screen('reset-password', () => import('./screens/sign-in/password-reset.tsx'), 'ResetPassword'),
        screen('unsubscribe', () => import('./screens/sign-in/mail-links.tsx'), 'Unsubscribe'),
        screen('invitations', () => import('./screens/sign-in/join.tsx'), 'Join'),
        {
          loader: () => client.ensureQueryData(queryOf('getMe')),
          children: [
            screen('welcome', () => import('./screens/welcome/welcome.tsx'), 'Welcome'),
            screen('account/profile', () => import('./screens/profile/profile.tsx'), 'Profile'),
            screen('admin', () => import('./screens/admin/console.tsx'), 'Console', operatorPages),
          ],
        },
        { path: ':slug', loader: ({ params }) => toWorkspace(client, params.slug), Component: Nothing },
        { path: ':slug', Component: Shell, loader: loadScope(client), children: [organizationPages] },
        { path: ':slug/w/:ws', Component: Shell, loader: loadScope(client), children: workspacePages },
        { path: '*', Component: NotFound },
      ],
    },
  ]
}

const operatorPages: RouteObject[] = [
  screen('', () => import('./screens/admin/lists.tsx'), 'Tenants'),
  screen('organizations/:org', () => import('./screens/admin/tenant.tsx'), 'TenantPage'),
  screen('targets', () => import('./screens/admin/lists.tsx'), 'Hosts'),
  screen('mail', () => import('./screens/admin/lists.tsx'), 'BlockedAddresses'),
  screen('log', () => import('./screens/admin/lists.tsx'), 'OperatorLog'),
]

const ofOrganization = settingsScreen(organizationSettings)
const organizationPages = settings([
  ofOrganization('general', () => import('./screens/settings/organization.tsx'), 'General'),
  ofOrganization('members', () => import('./screens/settings/members.tsx'), 'Members'),
  ofOrganization('invitations', () => import('./screens/settings/invitations.tsx'), 'Invitations'),
  ofOrganization('policy', () => import('./screens/settings/policy.tsx'), 'Policy'),
  ofOrganization('workspaces', () => import('./screens/settings/organization.tsx'), 'Workspaces'),
  ofOrganization('usage', () => import('./screens/settings/usage.tsx'), 'Usage'),
  ofOrganization('audit-log', () => import('./screens/settings/audit-log.tsx'), 'AuditLog'),
])

const ofWorkspace = settingsScreen(workspaceSettings)
const workspacePages: RouteObject[] = [
  screen('', () => import('./screens/overview/overview.tsx'), 'Overview'),
  screen('first-steps', () => import('./screens/welcome/first-steps.tsx'), 'FirstSteps'),
  screen('tasks', () => import('./screens/tasks/tasks.tsx'), 'Tasks'),
  screen('tasks/new', () => import('./screens/tasks/task-form.tsx'), 'NewTask'),
  screen('tasks/:task', () => import('./screens/tasks/task.tsx'), 'Task'),
  screen('tasks/:task/edit', () => import('./screens/tasks/task-form.tsx'), 'EditTask'),
  screen('cron-jobs', () => import('./screens/cron-jobs/cron-jobs.tsx'), 'CronJobs'),
  screen('cron-jobs/new', () => import('./screens/cron-jobs/cron-job-form.tsx'), 'NewCronJob'),
  screen('cron-jobs/:cronJob', () => import('./screens/cron-jobs/cron-job.tsx'), 'CronJob'),
  screen('cron-jobs/:cronJob/edit', () => import('./screens/cron-jobs/cron-job-form.tsx'), 'EditCronJob'),
  screen('upcoming', () => import('./screens/upcoming/upcoming.tsx'), 'Upcoming'),
  // A run opens beside the log. The log stays mounted.
  screen('log', () => import('./screens/log/log.tsx'), 'Log', [
    screen(':run', () => import('./screens/log/run.tsx'), 'Run'),
  ]),
  screen('dead-letters', () => import('./screens/dead-letters/dead-letters.tsx'), 'DeadLetters'),
  screen('hosts', () => import('./screens/hosts/hosts.tsx'), 'Hosts'),
  screen('hosts/:host', () => import('./screens/hosts/hosts.tsx'), 'Host'),
  screen('queues', () => import('./screens/queues/queues.tsx'), 'Queues'),
  screen('events', () => import('./screens/events/events.tsx'), 'Events'),
  screen('subscriptions', () => import('./screens/subscriptions/subscriptions.tsx'), 'Subscriptions'),
  settings([
    ofWorkspace('api-keys', () => import('./screens/settings/api-keys.tsx'), 'ApiKeys'),
    ofWorkspace(
      'federated-credentials',
      () => import('./screens/settings/federated-credentials.tsx'),
      'FederatedCredentials',
    ),
    ofWorkspace('secrets', () => import('./screens/settings/secrets.tsx'), 'Secrets'),
    ofWorkspace('connections', () => import('./screens/settings/connections.tsx'), 'Connections'),
    ofWorkspace('signing-secrets', () => import('./screens/settings/secrets.tsx'), 'SigningSecrets'),
    ofWorkspace('integrations', () => import('./screens/settings/integrations.tsx'), 'Integrations'),
    ofWorkspace('members', () => import('./screens/settings/members.tsx'), 'WorkspaceMembers'),
  ]),
]

function screen<Name extends string>(
  path: string,
  load: () => Promise<Record<Name, ComponentType>>,
  name: Name,
  children: RouteObject[] = [],
): RouteObject {
  const loadScreen = async (): Promise<ComponentType> => (await load())[name]
  const lazy = async () => ({
    // The router would keep a rejection forever.
    Component: await loadScreen().catch(() => lateScreen(`${path} ${name}`, loadScreen)),
  })
  // The shell stays when a page fails.
  return { path, lazy, ErrorBoundary: ErrorPage, children }
}

function settings(children: RouteObject[]): RouteObject {
  return screen('settings', () => import('./layout/settings-layout.tsx'), 'SettingsLayout', children)
}

// A page of the settings has its right in the table of the pages. Users without it see why they have no access.
function settingsScreen<Page extends string>(pages: SettingsPages<Page>) {
  return <Name extends string>(page: Page, load: () => Promise<Record<Name, ComponentType>>, name: Name) => ({
    element: (
      <PageFor right={pages[page][1]} isWhole>
        <Outlet />
      </PageFor>
    ),
    children: [screen(page, load, name)],
  })
}

async function toStart(client: QueryClient): Promise<Response> {
  const { organizations } = await client.ensureQueryData(queryOf('getMe'))
  const last = lastPlace()
  const slug = organizations.find(one => one.slug === last?.slug)?.slug ?? organizations[0]?.slug
  return redirect(slug === undefined ? paths.welcome() : paths.organization(slug))
}

async function toWorkspace(client: QueryClient, slug = ''): Promise<Response> {
  const { organizations } = await client.ensureQueryData(queryOf('getMe'))
  const organization = organizations.find(one => one.slug === slug)
  if (!organization) throw new Response(null, { status: 404 })
  const workspaces = await client.ensureQueryData(allOf('listWorkspaces', { org: organization.id }))
  const workspace = workspaces.find(({ id }) => id === lastPlace()?.ws) ?? workspaces.at(-1)
  return redirect(workspace ? paths.workspace(slug, workspace.id).overview() : paths.settings(slug, 'workspaces'))
}

function Root() {
  const isBusy = useNavigation().state !== 'idle'
  useFocusOnPage()
  return (
    <div aria-busy={isBusy}>
      <div className="page-progress" aria-hidden="true" />
      <Outlet />
      <ScrollRestoration />
    </div>
  )
}

function Nothing(): null {
  return null
}

function NotFound(): never {
  throw new Response(null, { status: 404 })
}

/** The frame that `index.html` shows, until the first page has loaded. */
function Boot() {
  return (
    <div className="boot" aria-busy="true">
      <div>
        <img src="/favicon.svg" alt="" width="26" height="26" />
        Belfry
      </div>
      <div />
    </div>
  )
}
