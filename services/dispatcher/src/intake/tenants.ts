import type { TenantRow } from '@belfry/db/organizations/tenants'
import { isTransientDatabaseError } from '@belfry/db/postgres/database-errors'
import type { Tiers } from '@belfry/domain/tiers'
import { microBatch } from '@belfry/runtime'
import type { Tenant } from '../scheduling/tenant-levels.ts'

type KnownTenant = Tenant & { workspace: string; isSuspended: boolean }

/**
 * Workspaces that were suspended or resumed, or that have another account, organization or tier, or are not new any
 * more.
 */
type TenantChanges = { suspended: string[]; resumed: string[]; moved: string[] }

type Entry = { tenant: KnownTenant; isUsed: boolean }

const pageSize = 5_000

/** Keeps the tenants of the workspaces whose tasks this process has met lately. */
export function createTenants(read: (workspaces: readonly string[]) => Promise<TenantRow[]>, tiers: Tiers) {
  const known = new Map<string, Entry>()
  const batch = microBatch<string, KnownTenant>({
    maxSize: 500,
    maxInFlight: 1,
    run: readAll,
    split: error => !isTransientDatabaseError(error),
  })

  async function readAll(workspaces: readonly string[]): Promise<KnownTenant[]> {
    const rows = new Map((await read(workspaces)).map(row => [row.workspaceId, row]))
    return workspaces.map(workspace => toTenant(workspace, rows.get(workspace), tiers))
  }

  return {
    /** Returns null for a workspace whose tenant has not been read. */
    find(workspace: string): KnownTenant | null {
      const entry = known.get(workspace)
      if (!entry) return null
      entry.isUsed = true
      return entry.tenant
    },
    /** Reads the tenant of a workspace. Workspaces that are requested together share a statement. */
    async load(workspace: string): Promise<KnownTenant> {
      const tenant = await batch(workspace)
      known.set(workspace, { tenant, isUsed: true })
      return tenant
    },
    /**
     * Reads all known tenants again. Forgets those that nothing has asked for since the last time.
     * @param isNeeded - Whether to keep the tenant of a workspace anyway.
     */
    async refresh(isNeeded: (workspace: string) => boolean): Promise<TenantChanges> {
      for (const [workspace, entry] of known) {
        if (!entry.isUsed && !isNeeded(workspace)) known.delete(workspace)
        entry.isUsed = false
      }
      const changes: TenantChanges = { suspended: [], resumed: [], moved: [] }
      const workspaces = [...known.keys()]
      for (let i = 0; i < workspaces.length; i += pageSize) {
        for (const tenant of await readAll(workspaces.slice(i, i + pageSize))) {
          const entry = known.get(tenant.workspace)
          if (entry) replace(entry, tenant, changes)
        }
      }
      return changes
    },
  }
}

function replace(entry: Entry, tenant: KnownTenant, changes: TenantChanges): void {
  const { workspace, isSuspended } = tenant
  const before = entry.tenant
  entry.tenant = tenant
  if (isSuspended !== before.isSuspended) changes[isSuspended ? 'suspended' : 'resumed'].push(workspace)
  const isMoved = tenant.account !== before.account || tenant.organization !== before.organization
  if (isMoved || tenant.slotsPercent !== before.slotsPercent || tenant.isNew !== before.isNew) {
    changes.moved.push(workspace)
  }
}

// A workspace that does not exist has no claim either.
function toTenant(workspace: string, row: TenantRow | undefined, tiers: Tiers): KnownTenant {
  return {
    workspace,
    account: row?.account ?? workspace,
    organization: row?.organizationId ?? workspace,
    slotsPercent: tiers[row?.tier ?? 'free'].slotsPercent,
    isNew: row?.isNew ?? false,
    isSuspended: row?.isSuspended ?? false,
  }
}
