import { randomUUID } from 'node:crypto'
import { expect, it } from 'vitest'
import { insertAuditEntry } from '../src/index.ts'
import { useDatabase } from './setup.ts'

const db = useDatabase()

it.each(["UPDATE audit_log SET address = ''", 'DELETE FROM audit_log', 'TRUNCATE audit_log'])(
  'audit entries stay: %s is refused',
  async statement => {
    await insertAuditEntry(db.pool, {
      ...{ organizationId: randomUUID(), workspaceId: null, userId: randomUUID(), apiKeyId: null },
      ...{
        action: 'organization.created' as const,
        address: '192.0.2.1',
        objectId: 'org_x',
        details: { name: 'Acme' },
      },
    })
    await expect(db.pool.query(statement)).rejects.toThrow('append-only')
  },
)
