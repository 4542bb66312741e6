import type { Id, Timestamp } from './request.ts'

/** An organization, as API keys of its workspaces see it. */
export type OrganizationSummary = { id: Id; name: string; slug: string; tier: string }

export type Organization = {
  id: Id
  name: string
  slug: string
  tier: string
  policy: Policy
  /** How long a new API key is valid at most. Null: without limit. */
  maxApiKeyDays: number | null
  /** Whether members need a second factor. API keys are not affected. */
  requireSecondFactor: boolean
  createdAt: Timestamp
  updatedAt: Timestamp
}

/** The limit is null when the tier has none. */
type Share = { used: number; limit: number | null }

/** An organization with its usage, which only owners see. */
export type OrganizationDetail = Organization & {
  usage?: { period: { start: Timestamp; end: Timestamp }; executions: Share; storageBytes: Share; workspaces: Share }
}

/** The permissions of members, as opposed to owners and admins. */
export type Policy = {
  membersCanInvite: boolean
  membersCanCreateApiKeys: boolean
  membersCanCreateSecrets: boolean
  membersCanCreateWorkspaces: boolean
  membersCanDeleteTasks: boolean
  membersCanManageIntegrations: boolean
}

export type Member = {
  user: { id: Id; email: string; name: string }
  role: 'owner' | 'admin' | 'member'
  /** The default role in workspaces that the member joins later. */
  workspaceRole: 'viewer' | 'editor'
  joinedAt: Timestamp
}

/** The webhook that receives the new audit entries of an organization. */
export type AuditStream = {
  /** The host of its URL. Null: there is no stream. */
  target: string | null
  /** The current secret, and the previous one while it also signs. */
  signingSecrets: Array<{ secret: string; expiresAt: Timestamp | null }>
  /** How many entries were not received yet, counted up to 10,001. */
  waiting: number
  /** Why the latest message was not received. */
  lastError: string | null
  updatedAt: Timestamp | null
}
