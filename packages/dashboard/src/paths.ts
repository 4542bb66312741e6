/** Every URL of the dashboard. Screens build their links from these only. */
export const paths = {
  signIn: (returnTo?: string) => withReturn('/sign-in', returnTo),
  register: (returnTo?: string) => withReturn('/register', returnTo),
  forgotPassword: () => '/forgot-password',
  // A browser sends no fragment to a server, so no log holds these tokens.
  resetPassword: (token: string) => `/reset-password#${token}`,
  invitation: (token: string) => `/invitations#${token}`,
  welcome: () => '/welcome',
  profile: () => '/account/profile',
  admin: {
    tenants: () => '/admin',
    tenant: (org: string) => `/admin/organizations/${org}`,
    targets: () => '/admin/targets',
    mail: () => '/admin/mail',
    log: () => '/admin/log',
  },
  organization: (slug: string) => `/${slug}`,
  settings: (slug: string, page: OrganizationSettings = 'general') => `/${slug}/settings/${page}`,
  workspace: (slug: string, ws: string) => workspacePaths(slug, ws),
}

export type OrganizationSettings =
  | 'general'
  | 'members'
  | 'invitations'
  | 'policy'
  | 'workspaces'
  | 'usage'
  | 'audit-log'

export type WorkspaceSettings =
  | 'api-keys'
  | 'federated-credentials'
  | 'secrets'
  | 'connections'
  | 'signing-secrets'
  | 'integrations'
  | 'members'

export type WorkspacePaths = ReturnType<typeof workspacePaths>

function workspacePaths(slug: string, ws: string) {
  const base = `/${slug}/w/${ws}`
  return {
    overview: () => base,
    firstSteps: () => `${base}/first-steps`,
    tasks: (query = '') => `${base}/tasks${query}`,
    newTask: (from?: string) => `${base}/tasks/new${from ? `?from=${from}` : ''}`,
    task: (id: string) => `${base}/tasks/${id}`,
    editTask: (id: string) => `${base}/tasks/${id}/edit`,
    cronJobs: (query = '') => `${base}/cron-jobs${query}`,
    newCronJob: (from?: string) => `${base}/cron-jobs/new${from ? `?from=${from}` : ''}`,
    cronJob: (id: string) => `${base}/cron-jobs/${id}`,
    editCronJob: (id: string) => `${base}/cron-jobs/${id}/edit`,
    log: (query = '') => `${base}/log${query}`,
    run: (id: string) => `${base}/log/${id}`,
    deadLetters: (query = '') => `${base}/dead-letters${query}`,
    targets: () => `${base}/targets`,
    queues: () => `${base}/queues`,
    events: () => `${base}/events`,
    subscriptions: () => `${base}/subscriptions`,
    settings: (page: WorkspaceSettings) => `${base}/settings/${page}`,
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
