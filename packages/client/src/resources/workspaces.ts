import type { Http } from '../http.ts'
import { type List, list } from '../list.ts'
import type { RequestOptions } from '../options.ts'
import { path } from '../path.ts'
import { toBody } from '../request-body.ts'
import type { Id, PageOptions, Secret, SigningSecret, Workspace, WorkspaceMember } from '../types.ts'

/** What tasks, cron jobs, keys and logs belong to. */
export type Workspaces = ReturnType<typeof workspacesOf>

export function workspacesOf(http: Http) {
  return {
    /** Takes a session token. */
    create: (organizationId: Id, workspace: { name: string }, options?: RequestOptions): Promise<Workspace> =>
      http.json({
        method: 'POST',
        path: path`/api/v1/organizations/${organizationId}/workspaces`,
        body: toBody(workspace),
        options,
      }),

    /** Throws `NotFoundError` when there is none, or when it is not the caller's. */
    get: (id: Id, options?: RequestOptions): Promise<Workspace> =>
      http.json({ method: 'GET', path: path`/api/v1/workspaces/${id}`, options }),

    /** Takes a session token. */
    update: (id: Id, change: { name: string }, options?: RequestOptions): Promise<Workspace> =>
      http.json({ method: 'PATCH', path: path`/api/v1/workspaces/${id}`, body: toBody(change), options }),

    /** Stops every delivery of the workspace at once. Takes a session token. */
    delete: (id: Id, options?: RequestOptions): Promise<void> =>
      http.json({ method: 'DELETE', path: path`/api/v1/workspaces/${id}`, options }),

    /** The members who belong to it, with their roles in it. Owners and admins of the organization need not. */
    members: (id: Id, page: PageOptions = {}, options?: RequestOptions): List<WorkspaceMember> =>
      list(http, path`/api/v1/workspaces/${id}/members`, page, options),

    /** Values that requests refer to and no answer shows. */
    secrets: secretsOf(http),
    /** What deliveries are signed with. */
    signingSecrets: signingSecretsOf(http),
  }
}

function secretsOf(http: Http) {
  return {
    /** Their names: the values never come back. */
    list: (workspaceId: Id, page: PageOptions = {}, options?: RequestOptions): List<Secret> =>
      list(http, path`/api/v1/workspaces/${workspaceId}/secrets`, page, options),

    /** Gives a secret its value, whether it is new or not. Requests refer to it as `{{ secrets.NAME }}`. */
    put: (workspaceId: Id, name: string, value: string, options?: RequestOptions): Promise<Secret> =>
      http.json({
        method: 'PUT',
        path: path`/api/v1/workspaces/${workspaceId}/secrets/${name}`,
        body: toBody({ value }),
        options,
      }),

    /** Requests that still refer to it die with `secret_missing`. */
    delete: (workspaceId: Id, name: string, options?: RequestOptions): Promise<void> =>
      http.json({ method: 'DELETE', path: path`/api/v1/workspaces/${workspaceId}/secrets/${name}`, options }),
  }
}

function signingSecretsOf(http: Http) {
  return {
    /** Those in force: the current one, and during a rotation the one before. */
    list: (workspaceId: Id, page: PageOptions = {}, options?: RequestOptions): List<SigningSecret> =>
      list(http, path`/api/v1/workspaces/${workspaceId}/signing-secrets`, page, options),

    /** Makes a new one. The one before signs beside it for 24 hours. */
    rotate: (workspaceId: Id, options?: RequestOptions): Promise<SigningSecret> =>
      http.json({ method: 'POST', path: path`/api/v1/workspaces/${workspaceId}/signing-secrets`, options }),

    /** Ends the one before, ahead of its time. */
    revoke: (workspaceId: Id, id: Id, options?: RequestOptions): Promise<void> =>
      http.json({ method: 'DELETE', path: path`/api/v1/workspaces/${workspaceId}/signing-secrets/${id}`, options }),
  }
}
