import type { PoolClient } from 'pg'
import type { Pool } from './pool.ts'

/** The workspace and the organization whose rows statements may see. */
export type Tenant = { organizationId: string; workspaceId?: string }

/** The settings of a connection that the policies of row-level security read. */
export const tenantSettings = { workspace_id: 'belfry.workspace', organization_id: 'belfry.organization' } as const

/**
 * Returns a view of a pool. Its connections see only rows of one tenant in the tables with row-level security, also in a
 * statement without a condition on the tenant. It costs one more round trip before the statements of a connection, and one
 * after them.
 */
export function scopeTo(pool: Pool, { organizationId, workspaceId = '' }: Tenant): Pool {
  const set = settings(organizationId, workspaceId)
  const scoped: Pool = Object.create(pool)
  const connect = async () => restrict(await pool.connect(), set)
  async function query(...args: Parameters<PoolClient['query']>) {
    const client = await connect()
    let failure: unknown
    try {
      return await client.query(...args)
    } catch (error) {
      failure = error
      throw error
    } finally {
      client.release(failure instanceof Error ? failure : undefined)
    }
  }
  return Object.assign(scoped, { connect, query })
}

async function restrict(client: PoolClient, set: string): Promise<PoolClient> {
  const { release } = client
  try {
    await client.query(set)
  } catch (error) {
    release(error instanceof Error ? error : true)
    throw error
  }
  // The caller has its result and does not wait. A connection that keeps the tenant is closed.
  client.release = failure => {
    if (failure) release(failure)
    else void client.query(settings('', '')).then(() => release(), release)
  }
  return client
}

function settings(organizationId: string, workspaceId: string): string {
  const { workspace_id, organization_id } = tenantSettings
  return `SET ${organization_id} = '${idOrNothing(organizationId)}'; SET ${workspace_id} = '${idOrNothing(workspaceId)}'`
}

// SET does not support parameters, so the id is checked and inlined.
function idOrNothing(id: string): string {
  if (!/^[0-9a-f-]*$/.test(id)) throw new TypeError('A tenant has a UUID.')
  return id
}
