import { fromId } from '@belfry/domain/id'
import { parseJson } from '@belfry/domain/json-text'
import { type Role, roles, type WorkspaceRole, workspaceRoles } from '@belfry/domain/permissions'
import { parsedBy } from '@belfry/runtime'
import { z } from 'zod'
import { parseHosts } from '../http/check-request.ts'

export const oidcVariables = {
  /** The issuer whose users may sign in. Optional. */
  OIDC_ISSUER: parsedBy(parseIssuer).optional(),
  OIDC_CLIENT_ID: z.string().optional(),
  /** Omitted for a public client. */
  OIDC_CLIENT_SECRET: z.string().optional(),
  OIDC_SCOPES: parsedBy(parseScopes).prefault('openid email profile'),
  /** How the sign-in page names the issuer. */
  OIDC_NAME: z.string().max(50, 'must have at most 50 characters').default('single sign-on'),
  /**
   * The domains whose users may sign in through the issuer, and get an account, comma-separated. Default: any domain; a
   * new user then needs a group, an invitation or open registration.
   */
  OIDC_DOMAINS: parsedBy(parseHosts).prefault(''),
  /** The roles of groups in organizations, as JSON. */
  OIDC_GROUP_ROLES: parsedBy(parseGroupRoles).optional(),
  /** The claim with the groups of a user. */
  OIDC_GROUPS_CLAIM: z.string().default('groups'),
  /** Whether addresses count as verified when the issuer does not say. */
  OIDC_TRUST_EMAIL: z.enum(['on', 'off'], 'must be on or off').default('off'),
  /** Whether users may sign in and register with a password. */
  PASSWORD_LOGIN: z.enum(['on', 'off'], 'must be on or off').default('on'),
}

type Variables = z.infer<z.ZodObject<typeof oidcVariables>>

export type OidcSettings = NonNullable<ReturnType<typeof oidcOf>>

export function requireOidc(env: Variables, context: z.RefinementCtx): void {
  const report = (path: string, message: string) => context.addIssue({ code: 'custom', path: [path], message })
  if (env.OIDC_ISSUER !== undefined) {
    if (env.OIDC_CLIENT_ID === undefined) report('OIDC_CLIENT_ID', 'is required with OIDC_ISSUER')
    return
  }
  for (const name of ['OIDC_CLIENT_ID', 'OIDC_CLIENT_SECRET', 'OIDC_GROUP_ROLES'] as const) {
    if (env[name] !== undefined) report(name, 'needs OIDC_ISSUER')
  }
  if (env.OIDC_DOMAINS.length > 0) report('OIDC_DOMAINS', 'needs OIDC_ISSUER')
  if (env.PASSWORD_LOGIN === 'off') report('PASSWORD_LOGIN', 'off needs OIDC_ISSUER: users could not sign in')
}

export function oidcOf(env: Variables) {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = env
  if (issuer === undefined || clientId === undefined) return null
  return {
    issuer,
    clientId,
    clientSecret: env.OIDC_CLIENT_SECRET ?? null,
    scopes: env.OIDC_SCOPES,
    name: env.OIDC_NAME,
    domains: env.OIDC_DOMAINS,
    groupRoles: env.OIDC_GROUP_ROLES ?? [],
    groupsClaim: env.OIDC_GROUPS_CLAIM,
    trustsEmail: env.OIDC_TRUST_EMAIL === 'on',
  }
}

// Tokens travel to this URL, so it has https, except on this machine.
function parseIssuer(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null
  const isLocal = url !== null && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(url.hostname)
  if (url?.protocol !== 'https:' && !(url?.protocol === 'http:' && isLocal)) {
    throw new Error('must be an https URL (http only for localhost)')
  }
  if (url.username || url.password || url.search || url.hash) {
    throw new Error('must be a URL without credentials, query and fragment')
  }
  // The client would not check the issuer that such a document names.
  if (url.pathname.includes('/.well-known/')) throw new Error('must be the issuer itself, without /.well-known/...')
  return url
}

function parseScopes(text: string): string {
  const scopes = text.split(/[\s,]+/).filter(Boolean)
  if (['openid', 'email'].every(one => scopes.includes(one))) return scopes.join(' ')
  throw new Error('must contain openid and email')
}

const grant = z.strictObject({
  /** The slug of the organization, or its id. The id stays when the slug changes. */
  organization: z
    .string()
    .refine(text => fromId('org', text) !== null || /^[a-z0-9](-?[a-z0-9])*$/.test(text), 'must be a slug or an id'),
  role: z.enum(roles),
  /** The role of members in every workspace. Without it, owners and admins add them to workspaces. */
  workspace_role: z.enum(workspaceRoles).optional(),
})

/** The role that the members of a group have in an organization. */
type GroupRole = z.infer<typeof grant> & { group: string }

const byGroup = z.record(z.string().min(1), z.union([grant, z.array(grant)]))

/**
 * Parses `{"ops":{"organization":"acme","role":"admin"}}`. A group may have a list of such roles.
 * @throws Error that names the wrong part.
 */
export function parseGroupRoles(text: string): GroupRole[] {
  const value = parseJson(text)
  if (value === undefined) throw new Error('must be JSON')
  const result = byGroup.safeParse(value)
  if (!result.success) {
    const [issue] = result.error.issues
    throw new Error(`must be an object of roles by group; ${issue?.path.join('.')}: ${issue?.message}`)
  }
  return Object.entries(result.data).flatMap(([group, given]) => [given].flat().map(role => ({ group, ...role })))
}

export type Granted = { role: Role; workspaceRole: WorkspaceRole | undefined }

/** Returns the user's highest mapped role in each organization of the mapping, or null if no group matches. */
export function rolesOf(mapping: readonly GroupRole[], groups: readonly string[]): Map<string, Granted | null> {
  const granted = new Map<string, Granted | null>()
  for (const { group, organization, role, workspace_role: workspaceRole } of mapping) {
    const present = granted.get(organization) ?? null
    const raised = {
      role: highest(roles, present?.role, role) ?? role,
      workspaceRole: highest([...workspaceRoles].reverse(), present?.workspaceRole, workspaceRole),
    }
    granted.set(organization, groups.includes(group) ? raised : present)
  }
  return granted
}

// `order` begins with the highest.
function highest<T>(order: readonly T[], ...given: Array<T | undefined>): T | undefined {
  return order.find(one => given.includes(one))
}
