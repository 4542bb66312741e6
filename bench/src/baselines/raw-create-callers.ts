import { createHash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { type Pool, readUsage } from '@belfry/db'
import { defaultTiers, exhaustedQuotas } from '@belfry/domain'

/** A request that gets another answer than 201. */
export class Refused extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

export type Callers = {
  /** Knows the caller by the key, and counts the request. Returns the workspace, and headers about the allowance. */
  admit(request: IncomingMessage): Promise<{ workspaceId: string; headers: Record<string, string> }>
  /** Throws when what the caller's organization stores leaves no room. */
  requireQuota(workspaceId: string): Promise<void>
}

type Caller = { workspaceId: string; organizationId: string; left: number; at: number; until: number }

// As long as Belfry remembers both, and an allowance that no benchmark uses up.
const keyRememberedMs = 5_000
const usageRememberedMs = 2_000
const requestsPerSecond = 1_000_000

export function openCallers(pool: Pool): Callers {
  const byKey = new Map<string, Caller>()
  const organizations = new Map<string, string>()
  const usages = new Map<string, { isFull: Promise<boolean>; until: number }>()

  async function find(key: string): Promise<Caller> {
    const name = createHash('sha256').update(key).digest('base64')
    const known = byKey.get(name)
    if (known && known.until > performance.now()) return known
    const text = `
      SELECT workspace_id AS "workspaceId", organization_id AS "organizationId"
      FROM api_keys JOIN workspaces w ON w.id = workspace_id
      WHERE hash = $1 AND revoked_at IS NULL AND deleted_at IS NULL AND (expires_at IS NULL OR expires_at > now())`
    const values = [Buffer.from(name, 'base64')]
    const { rows } = await pool.query<Pick<Caller, 'workspaceId' | 'organizationId'>>({
      name: 'find_api_key',
      text,
      values,
    })
    const [row] = rows
    if (!row) throw new Refused(401, 'unknown key')
    const now = performance.now()
    const caller = {
      ...row,
      left: known?.left ?? requestsPerSecond,
      at: known?.at ?? now,
      until: now + keyRememberedMs,
    }
    byKey.set(name, caller)
    organizations.set(row.workspaceId, row.organizationId)
    return caller
  }

  return {
    async admit(request) {
      const caller = await find(String(request.headers['x-api-key']))
      const now = performance.now()
      caller.left = Math.min(requestsPerSecond, caller.left + ((now - caller.at) / 1000) * requestsPerSecond) - 1
      caller.at = now
      if (caller.left < 0) throw new Refused(429, 'too many requests')
      const headers = {
        'RateLimit-Policy': `"key";q=${requestsPerSecond};w=1`,
        RateLimit: `"key";r=${Math.floor(caller.left)};t=1`,
      }
      return { workspaceId: caller.workspaceId, headers }
    },
    async requireQuota(workspaceId) {
      const organization = organizations.get(workspaceId) ?? ''
      const known = usages.get(organization)
      const isFull = known && known.until > performance.now() ? known.isFull : isOverQuota(pool, organization)
      if (isFull !== known?.isFull) usages.set(organization, { isFull, until: performance.now() + usageRememberedMs })
      if (await isFull) throw new Refused(402, 'no room left')
    },
  }
}

async function isOverQuota(pool: Pool, organizationId: string): Promise<boolean> {
  const usage = await readUsage(pool, organizationId)
  if (!usage) return true
  const limits = defaultTiers[usage.tier]
  return exhaustedQuotas({
    executions: { used: usage.executions, limit: limits.executions },
    storageBytes: { used: usage.storageBytes, limit: limits.storageBytes },
  }).includes('storage')
}
