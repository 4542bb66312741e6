import type { Action } from '@belfry/domain/permissions'

/** Every URL of the dashboard. Screens build their links from these only. */
export const paths = {
  signIn: (returnTo?: string) => withReturn('/sign-in', returnTo),
  register: (returnTo?: string) => withReturn('/register', returnTo),
  forgotPassword: () => '/forgot-password',
  // Browsers do not send the fragment to a server, so these tokens stay out of its logs.
  resetPassword: (token: string) => `/reset-password#${token}`,
  invitation: (token: string) => `/invitations#${token}`,
  welcome: () => '/welcome',
  profile: () => '/account/profile',
  admin: {
    tenants: () => '/admin',
    tenant: (org: string) => `/admin/organizations/${org}`,
    // The operators' API has `/admin/hosts`.
    hosts: () => '/admin/targets',
    mail: () => '/admin/mail',
    log: () => '/admin/log',
  },
  organization: (slug: string) => `/${slug}`,
  settings: (slug: string, page: keyof typeof organizationSettings = 'general') => `/${slug}/settings/${page}`,
  workspace: (slug: string, ws: string) => workspacePaths(slug, ws),
}

export type SettingsPages<Page extends string> = Readonly<Record<Page, readonly [label: string, right: Action]>>

/** The settings pages of an organization, in the order of their navigation, for users with the right. */
export const organizationSettings = {
  general: ['General', 'organization.read'],
  members: ['Members', 'member.read'],
  invitations: ['Invitations', 'invitation.read'],
  policy: ['Policy', 'organization.read'],
  workspaces: ['Workspaces', 'workspace.list'],
  usage: ['Usage and limits', 'usage.read'],
  'audit-log': ['Audit log', 'audit_log.read'],
} as const satisfies SettingsPages<string>

export const workspaceSettings = {
  'api-keys': ['API keys', 'api_key.read'],
  'federated-credentials': ['Federated credentials', 'federated_credential.read'],
  secrets: ['Secrets', 'secret.read'],
  connections: ['Connections', 'connection.read'],
  'signing-secrets': ['Signing secrets', 'signing_secret.read'],
  integrations: ['Integrations', 'integration.read'],
  members: ['Workspace members', 'workspace_member.read'],
} as const satisfies SettingsPages<string>

export type WorkspacePaths = ReturnType<typeof workspacePaths>

function workspacePaths(slug: string, ws: string) {
  const base = `/${slug}/w/${ws}`
  return {
    overview: () => base,
    firstSteps: () => `${base}/first-steps`,
    tasks: (query = '') => `${base}/tasks${query}`,
    newTask: (from?: string) => `${base}/tasks/new${from ? `?from=${from}` : ''}`,
    replayTask: (id: string) => `${base}/tasks/new?replay=${id}`,
    task: (id: string) => `${base}/tasks/${id}`,
    editTask: (id: string) => `${base}/tasks/${id}/edit`,
    cronJobs: (query = '') => `${base}/cron-jobs${query}`,
    newCronJob: (from?: string) => `${base}/cron-jobs/new${from ? `?from=${from}` : ''}`,
    cronJob: (id: string) => `${base}/cron-jobs/${id}`,
    editCronJob: (id: string) => `${base}/cron-jobs/${id}/edit`,
    upcoming: (query = '') => `${base}/upcoming${query}`,
    log: (query = '') => `${base}/log${query}`,
    run: (id: string) => `${base}/log/${id}`,
    deadLetters: (query = '') => `${base}/dead-letters${query}`,
    hosts: () => `${base}/hosts`,
    host: (host: string) => `${base}/hosts/${encodeURIComponent(host)}`,
    queues: () => `${base}/queues`,
    events: () => `${base}/events`,
    subscriptions: () => `${base}/subscriptions`,
    settings: (page: keyof typeof workspaceSettings) => `${base}/settings/${page}`,
  }
}

// A fragment stays a fragment: it may be a token, and a query is sent to the server.
function withReturn(page: string, returnTo = '/'): string {
  const { pathname, search, hash } = new URL(returnTo, 'http://dashboard')
  const path = pathname + search
  return page + (path === '/' ? '' : `?return=${encodeURIComponent(path)}`) + hash
}

/** Returns the path to open after sign-in. Anything but a path of the dashboard becomes "/". */
export function returnPath(text: string | null): string {
  return text !== null && /^\/(?![/\\])/.test(text) && !/^\/(sign-in|register)\b/.test(text) ? text : '/'
}
