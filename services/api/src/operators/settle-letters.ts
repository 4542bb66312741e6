import { type DeadLetterAction, insertAuditEntry, inTransaction, settleDeadLetters } from '@belfry/db'
import { fromId, toId } from '@belfry/domain'
import type { DeadLetter } from '@belfry/queue'
import type { Context } from '../context.ts'

/**
 * Replays or discards dead letters as an operator, as their workspace could: a replay is a new task, and nobody settles a
 * letter twice. Each is on record in the audit log of its organization.
 * @returns How many were settled; the others had been, by somebody else.
 */
export async function settleLetters(
  ctx: Context,
  letters: readonly DeadLetter[],
  action: DeadLetterAction,
  address: string,
): Promise<number> {
  let settled = 0
  for (const workspace of new Set(letters.map(letter => letter.workspace))) {
    const tasks = letters.filter(letter => letter.workspace === workspace).map(({ task }) => task)
    settled += await settleOfWorkspace(ctx, { workspace, tasks, action, address })
  }
  return settled
}

type Deed = { workspace: string; tasks: readonly string[]; action: DeadLetterAction; address: string }

async function settleOfWorkspace(ctx: Context, deed: Deed): Promise<number> {
  const workspaceId = fromId('ws', deed.workspace)
  const ids = deed.tasks.map(task => fromId('task', task)).filter(id => id !== null)
  if (workspaceId === null) return 0
  const { letters, replays, now } = await inTransaction(ctx.pool, async tx => {
    const settled = await settleDeadLetters(tx, workspaceId, ids, deed.action)
    const found = await tx.query<{ id: string }>('SELECT organization_id AS id FROM workspaces WHERE id = $1', [
      workspaceId,
    ])
    for (const id of settled.letters) {
      await insertAuditEntry(tx, {
        organizationId: found.rows[0]?.id ?? workspaceId,
        workspaceId,
        action: deed.action === 'replay' ? 'dead_letter.replayed' : 'dead_letter.discarded',
        userId: null,
        apiKeyId: null,
        address: deed.address,
        objectId: toId('task', id),
        details: { by: 'operator' },
      })
    }
    return settled
  })
  const due = replays.map(({ id, dueAt }) => ({ id: toId('task', id), dueAt: dueAt.getTime() }))
  ctx.enqueue(due, now.getTime())
  // Also those that had been settled already: what shows them is out of date.
  await ctx.deadLetters.remove(deed.tasks)
  ctx.log.info({ workspace: deed.workspace, action: deed.action, letters: letters.length }, 'operator.settled')
  return letters.length
}
