/** Every URL of the dashboard. Screens build their links from these only. */
export const paths = {
  signIn: (returnTo?: string) =>
    returnTo && returnTo !== '/' ? `/sign-in?return=${encodeURIComponent(returnTo)}` : '/sign-in',
  register: () => '/register',
  forgotPassword: () => '/forgot-password',
  resetPassword: (token: string) => `/reset-password/${token}`,
  invitation: (token: string) => `/invitations/${token}`,
  welcome: () => '/welcome',
  profile: () => '/account/profile',
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

export type WorkspaceSettings = 'api-keys' | 'secrets' | 'signing-secrets' | 'integrations' | 'members'

export type WorkspacePaths = ReturnType<typeof workspacePaths>

function workspacePaths(slug: string, ws: string) {
  const base = `/${slug}/w/${ws}`
  return {
    overview: () => base,
    firstSteps: () => `${base}/first-steps`,
    tasks: (query = '') => `${base}/tasks${query}`,
    newTask: () => `${base}/tasks/new`,
    task: (id: string) => `${base}/tasks/${id}`,
    editTask: (id: string) => `${base}/tasks/${id}/edit`,
    cronJobs: (query = '') => `${base}/cron-jobs${query}`,
    newCronJob: () => `${base}/cron-jobs/new`,
    cronJob: (id: string) => `${base}/cron-jobs/${id}`,
    editCronJob: (id: string) => `${base}/cron-jobs/${id}/edit`,
    log: (query = '') => `${base}/log${query}`,
    run: (id: string) => `${base}/log/${id}`,
    deadLetters: (query = '') => `${base}/dead-letters${query}`,
    events: () => `${base}/events`,
    subscriptions: () => `${base}/subscriptions`,
    settings: (page: WorkspaceSettings) => `${base}/settings/${page}`,
  }
}

/** Returns the path to open after sign-in. Anything but a path of the dashboard becomes "/". */
export function returnPath(text: string | null): string {
  return text !== null && /^\/(?![/\\])/.test(text) && !/^\/(sign-in|register)\b/.test(text) ? text : '/'
}
