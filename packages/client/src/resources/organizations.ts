import type { Http } from '../http.ts'
import { type List, list } from '../list.ts'
import type { RequestOptions } from '../options.ts'
import { path } from '../path.ts'
import { toBody } from '../request-body.ts'
import type {
  AuditStream,
  Id,
  ListOrganizationRuns,
  Member,
  Organization,
  OrganizationDetail,
  OrganizationSummary,
  PageOptions,
  Policy,
  Run,
  RunPage,
  Workspace,
} from '../types/index.ts'

const root = '/api/v1/organizations'

/** Organizations. Most methods require a session token instead of an API key. */
export type Organizations = ReturnType<typeof organizationsOf>

export function organizationsOf(http: Http) {
  return {
    /** Creates an organization. The signed-in user becomes its owner. */
    create: (organization: { name: string }, options?: RequestOptions): Promise<Organization> =>
      http.post(root, toBody(organization), options),

    /** Lists the organizations of the signed-in user. */
    list: (page: PageOptions = {}, options?: RequestOptions): List<Organization> => list(http, root, page, options),

    /** Returns an organization. With an API key of one of its workspaces it is a summary without `policy`. */
    get: (id: Id, options?: RequestOptions): Promise<OrganizationDetail | OrganizationSummary> =>
      http.get(path`/api/v1/organizations/${id}`, options),

    /** Changes an organization. Omitted fields stay unchanged, also within `policy`. */
    update: (
      id: Id,
      change: {
        name?: string
        slug?: string
        policy?: Partial<Policy>
        maxApiKeyDays?: number | null
        /** Owners only. */
        requireSecondFactor?: boolean
      },
      options?: RequestOptions,
    ): Promise<Organization> => http.patch(path`/api/v1/organizations/${id}`, toBody(change), options),

    /** Lists its members with their roles. */
    members: (id: Id, page: PageOptions = {}, options?: RequestOptions): List<Member> =>
      list(http, path`/api/v1/organizations/${id}/members`, page, options),

    /** Lists the workspaces that the caller can see: with an API key, only its own. */
    workspaces: (id: Id, page: PageOptions = {}, options?: RequestOptions): List<Workspace> =>
      list(http, path`/api/v1/organizations/${id}/workspaces`, page, options),

    /** Deletes an organization without workspaces. Requires an owner. */
    delete: (id: Id, options?: RequestOptions): Promise<void> =>
      http.delete(path`/api/v1/organizations/${id}`, options),

    /** Lists the runs of all workspaces that the signed-in user can see. */
    runs: (id: Id, filters: ListOrganizationRuns = {}, options?: RequestOptions): List<Run, RunPage> =>
      list(http, path`/api/v1/organizations/${id}/runs`, filters, options),

    /** The webhook that receives new audit entries. Requires an owner. */
    auditStream: auditStreamOf(http),
  }
}

function auditStreamOf(http: Http) {
  return {
    /** Returns the audit stream with its signing secrets. Without one its `target` is null. */
    get: (id: Id, options?: RequestOptions): Promise<AuditStream> =>
      http.get(path`/api/v1/organizations/${id}/audit-stream`, options),

    /** Sends new audit entries to this https URL, in place of an earlier one. */
    put: (id: Id, url: string, options?: RequestOptions): Promise<AuditStream> =>
      http.put(path`/api/v1/organizations/${id}/audit-stream`, toBody({ url }), options),

    /** Creates a new signing secret. The previous one also signs for 24 hours. */
    rotateSecret: (id: Id, options?: RequestOptions): Promise<AuditStream> =>
      http.post(path`/api/v1/organizations/${id}/audit-stream/rotate`, undefined, options),

    /** Stops the stream, and drops the entries that wait. */
    delete: (id: Id, options?: RequestOptions): Promise<void> =>
      http.delete(path`/api/v1/organizations/${id}/audit-stream`, options),
  }
}
