import type { Transaction } from '@belfry/db'
import { newUuid } from '@belfry/domain'

/** A signed-in operator, and where the request came from. */
export type Operator = { email: string; address: string }

export type OperatorLogEntry = { action: string; objectId: string; details: Readonly<Record<string, unknown>> }

/** Records an action in the operators' log, in the transaction of the action. */
export async function recordOperatorAction(tx: Transaction, by: Operator, entry: OperatorLogEntry): Promise<void> {
  const text = `
    INSERT INTO operator_log (id, operator, address, action, object_id, details) VALUES ($1, $2, $3, $4, $5, $6)`
  const { action, objectId, details } = entry
  await tx.query(text, [newUuid(), by.email, by.address, action, objectId, JSON.stringify(details)])
}
