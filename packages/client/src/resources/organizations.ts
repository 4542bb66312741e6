import type { Http } from '../http.ts'
import { type List, list } from '../list.ts'
import type { RequestOptions } from '../options.ts'
import { path } from '../path.ts'
import { toBody } from '../request-body.ts'
import type {
  Id,
  ListOrganizationRuns,
  Member,
  Organization,
  OrganizationDetail,
  OrganizationSummary,
  PageOptions,
  Policy,
  Run,
  Workspace,
} from '../types.ts'

const root = '/api/v1/organizations'

/** Accounts. Most of it takes a session token rather than an API key. */
export type Organizations = ReturnType<typeof organizationsOf>

export function organizationsOf(http: Http) {
  return {
    /** Makes an organization, whose owner is the signed-in user. */
    create: (organization: { name: string }, options?: RequestOptions): Promise<Organization> =>
      http.json({ method: 'POST', path: root, body: toBody(organization), options }),

    /** Those of the signed-in user. */
    list: (page: PageOptions = {}, options?: RequestOptions): List<Organization> => list(http, root, page, options),

    /** With the API key of one of its workspaces: a summary, without `policy`. */
    get: (id: Id, options?: RequestOptions): Promise<OrganizationDetail | OrganizationSummary> =>
      http.json({ method: 'GET', path: path`/api/v1/organizations/${id}`, options }),

    /** Changes what is given; the rest stays, also within `policy`. */
    update: (
      id: Id,
      change: { name?: string; slug?: string; policy?: Partial<Policy> },
      options?: RequestOptions,
    ): Promise<Organization> =>
      http.json({ method: 'PATCH', path: path`/api/v1/organizations/${id}`, body: toBody(change), options }),

    /** Its users, with their roles. */
    members: (id: Id, page: PageOptions = {}, options?: RequestOptions): List<Member> =>
      list(http, path`/api/v1/organizations/${id}/members`, page, options),

    /** Those that the caller may see: an API key sees its own. */
    workspaces: (id: Id, page: PageOptions = {}, options?: RequestOptions): List<Workspace> =>
      list(http, path`/api/v1/organizations/${id}/workspaces`, page, options),

    /** Only its owner may, and only once its workspaces are gone. */
    delete: (id: Id, options?: RequestOptions): Promise<void> =>
      http.json({ method: 'DELETE', path: path`/api/v1/organizations/${id}`, options }),

    /** The activity log over all workspaces that the signed-in user may see. */
    runs: (id: Id, filters: ListOrganizationRuns = {}, options?: RequestOptions): List<Run> =>
      list(http, path`/api/v1/organizations/${id}/runs`, filters, options),
  }
}
