import { listDeadLettersQuery, pageOf, task } from '@belfry/contract'
import { isDeadLetter } from '@belfry/db'
import { endpoint } from '../http/endpoint.ts'
import { ok } from '../http/reply.ts'
import { findTasks } from '../tasks/find-tasks.ts'

export const listDeadLetters = endpoint({
  right: 'dead_letter.read',
  summary: 'List tasks that could not be delivered, until they are replayed or discarded',
  answer: { status: 200, body: pageOf(task) },
  query: listDeadLettersQuery,
  async handle(ctx, { caller, query }) {
    const dead = { ...query, state: ['dead' as const] }
    return ok(await findTasks(ctx, caller.workspaceId, dead, { list: 'dead-letters', condition: isDeadLetter }))
  },
})
