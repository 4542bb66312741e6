import type { Http } from '../http.ts'
import { type List, list } from '../list.ts'
import type { RequestOptions } from '../options.ts'
import { toBody } from '../request-body.ts'
import type { Id, Member, Organization, PageOptions, Policy, Workspace } from '../types.ts'

const path = '/api/v1/organizations'

/** Accounts. Most of it takes a session token rather than an API key. */
export type Organizations = ReturnType<typeof organizationsOf>

export function organizationsOf(http: Http) {
  return {
    /** Makes an organization, whose owner is the signed-in user. */
    create: (organization: { name: string }, options?: RequestOptions): Promise<Organization> =>
      http.json({ method: 'POST', path, body: toBody(organization), options }),

    /** Those of the signed-in user. */
    list: (page: PageOptions = {}, options?: RequestOptions): List<Organization> => list(http, path, page, options),

    get: (id: Id, options?: RequestOptions): Promise<Organization> =>
      http.json({ method: 'GET', path: `${path}/${id}`, options }),

    update: (
      id: Id,
      change: { name?: string; slug?: string; policy?: Partial<Policy> },
      options?: RequestOptions,
    ): Promise<Organization> => http.json({ method: 'PATCH', path: `${path}/${id}`, body: toBody(change), options }),

    members: (id: Id, page: PageOptions = {}, options?: RequestOptions): List<Member> =>
      list(http, `${path}/${id}/members`, page, options),

    workspaces: (id: Id, page: PageOptions = {}, options?: RequestOptions): List<Workspace> =>
      list(http, `${path}/${id}/workspaces`, page, options),
  }
}
