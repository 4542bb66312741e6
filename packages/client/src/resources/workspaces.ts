import type { Http } from '../http.ts'
import type { RequestOptions } from '../options.ts'
import { toBody } from '../request-body.ts'
import type { Id, Workspace } from '../types.ts'

const path = '/api/v1/workspaces'

/** What tasks, cron jobs, keys and logs belong to. */
export type Workspaces = ReturnType<typeof workspacesOf>

export function workspacesOf(http: Http) {
  return {
    /** Takes a session token. */
    create: (organizationId: Id, workspace: { name: string }, options?: RequestOptions): Promise<Workspace> =>
      http.json({
        method: 'POST',
        path: `/api/v1/organizations/${organizationId}/workspaces`,
        body: toBody(workspace),
        options,
      }),

    get: (id: Id, options?: RequestOptions): Promise<Workspace> =>
      http.json({ method: 'GET', path: `${path}/${id}`, options }),

    update: (id: Id, change: { name: string }, options?: RequestOptions): Promise<Workspace> =>
      http.json({ method: 'PATCH', path: `${path}/${id}`, body: toBody(change), options }),
  }
}
