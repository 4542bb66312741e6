import { type SettleAction, settleDeadLetters } from '@belfry/db/dead-letters/settle-dead-letters'
import { inTransaction } from '@belfry/db/postgres/in-transaction'
import { findBoardTasks } from '@belfry/db/tasks/board-tasks'
import { fromId, toId } from '@belfry/domain/id'
import type { Context } from '../context.ts'
import { enqueue } from '../tasks/schedule.ts'
import { auditAsOperator } from './audit-as-operator.ts'

/**
 * Replays or discards dead letters as an operator, like their workspaces could: a replay is a new task, and no dead letter is
 * settled twice. Records each in the audit log of its organization.
 * @param tasks - Their public ids. Tasks that are no dead letters are ignored.
 * @returns The number of settled dead letters.
 */
export async function settleAsOperator(
  ctx: Context,
  tasks: readonly string[],
  action: SettleAction,
  address: string,
): Promise<number> {
  const ids = tasks.map(task => fromId('task', task)).filter(id => id !== null)
  const found = await findBoardTasks(ctx.pool, ids)
  let settled = 0
  for (const workspaceId of new Set(found.map(task => task.workspaceId))) {
    const ofWorkspace = found.filter(task => task.workspaceId === workspaceId).map(({ id }) => id)
    settled += await settleOfWorkspace(ctx, { workspaceId, ids: ofWorkspace, action, address })
  }
  // Also removes those that were settled before: the list that shows them is out of date.
  await ctx.deadLetters?.remove(tasks).catch(err => ctx.log.warn({ err }, 'dead_letter.still_shown'))
  return settled
}

type Settlement = { workspaceId: string; ids: string[]; action: SettleAction; address: string }

async function settleOfWorkspace(ctx: Context, { workspaceId, ids, action, address }: Settlement): Promise<number> {
  const { deadLetters, replays, now } = await inTransaction(ctx.pool, async tx => {
    const settled = await settleDeadLetters(tx, workspaceId, ids, action)
    const recorded = action === 'replay' ? 'dead_letter.replayed' : 'dead_letter.discarded'
    const objectIds = settled.deadLetters.map(id => toId('task', id))
    await auditAsOperator(tx, { workspaceId, action: recorded, address }, objectIds)
    return settled
  })
  enqueue(ctx, replays, now)
  ctx.log.info({ workspace: toId('ws', workspaceId), action, dead_letters: deadLetters.length }, 'operator.settled')
  return deadLetters.length
}
