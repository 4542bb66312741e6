import { isDeepStrictEqual } from 'node:util'
import {
  discardedDeadLetters,
  replayDeadLettersBody,
  replayedDeadLetters,
  type SettleDeadLettersBody,
  settleDeadLettersBody,
} from '@belfry/contract/dead-letter'
import { pageOf } from '@belfry/contract/page'
import { listDeadLettersQuery, task } from '@belfry/contract/task'
import { startDeadLetterOperation } from '@belfry/db/dead-letters/dead-letter-operations'
import {
  type DeadLetterFilter,
  findDeadLetters,
  hostOfRequest,
  lastErrorOfTask,
} from '@belfry/db/dead-letters/find-dead-letters'
import { settleDeadLetters } from '@belfry/db/dead-letters/settle-dead-letters'
import type { DeadLetterAction } from '@belfry/db/generated/enums'
import { isDeadLetter } from '@belfry/db/tasks/task-row'
import { AppError } from '@belfry/domain/app-error'
import { toId } from '@belfry/domain/id'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { accepted, ok, type Reply } from '../http/reply.ts'
import { enqueue, hideDeadLetters } from '../tasks/enqueue.ts'
import { findTasks } from '../tasks/find-tasks.ts'
import { presentOperation } from './operations.ts'

export const listDeadLetters = endpoint({
  right: 'dead_letter.read',
  summary: 'List tasks that could not be delivered, until they are replayed or discarded',
  mayLag: true,
  answer: { status: 200, body: pageOf(task) },
  query: listDeadLettersQuery,
  async handle(ctx, { caller, query }) {
    const dead = { ...query, state: ['dead' as const] }
    return ok(
      await findTasks(ctx, caller.workspaceId, dead, {
        list: 'dead-letters',
        narrow(rest) {
          rest.and(isDeadLetter)
          if (query.host) rest.and(`${requestHost} = ANY (?::text[])`, query.host.map(inLowerCase))
          if (query.error) rest.and(`${lastErrorOfTask} = ANY (?::text[])`, query.error)
        },
      }),
    )
  },
})

export const replayDeadLetters = endpoint({
  right: 'dead_letter.replay',
  summary: 'Replay dead letters: each as a new task that is due at once, or so many per second',
  answer: { status: 200, orStatus: 202, body: replayedDeadLetters },
  refusals: ['conflict'],
  body: replayDeadLettersBody,
  handle: (ctx, { caller, body }) => settle(ctx, caller.workspaceId, 'replay', body, body.per_second),
})

export const discardDeadLetters = endpoint({
  right: 'dead_letter.discard',
  summary: 'Discard dead letters; the tasks stay dead',
  answer: { status: 200, orStatus: 202, body: discardedDeadLetters },
  refusals: ['conflict'],
  body: settleDeadLettersBody,
  handle: (ctx, { caller, body }) => settle(ctx, caller.workspaceId, 'discard', body),
})

const requestHost = `(SELECT ${hostOfRequest} FROM task_requests r WHERE r.task_id = t.id)`

// More than this the scheduler does in the background, as an operation.
const maxAtOnce = 1_000

async function settle(
  ctx: Context,
  workspaceId: string,
  action: DeadLetterAction,
  body: SettleDeadLettersBody,
  perSecond: number | null = null,
): Promise<Reply> {
  const count = action === 'replay' ? 'replayed' : 'discarded'
  const filter = toFilter(body.filter)
  const ids = body.ids ?? (await findDeadLetters(ctx.pool, workspaceId, filter, maxAtOnce + 1))
  if (ids.length > maxAtOnce) {
    const operation = presentOperation(await start(ctx, workspaceId, action, filter, perSecond))
    const headers = { Location: `/api/v1/scheduler/dead-letters/operations/${operation.id}` }
    return accepted({ [count]: 0, operation }, headers)
  }
  const pace = perSecond === null ? null : { perSecond, from: null }
  const { deadLetters, replays, now } = await settleDeadLetters(ctx.pool, workspaceId, ids, action, pace)
  enqueue(ctx, replays, now)
  hideDeadLetters(
    ctx,
    deadLetters.map(id => toId('task', id)),
  )
  return ok({ [count]: deadLetters.length, operation: null })
}

async function start(
  ctx: Context,
  workspaceId: string,
  action: DeadLetterAction,
  filter: DeadLetterFilter,
  perSecond: number | null,
) {
  const operation = await startDeadLetterOperation(ctx.pool, workspaceId, action, filter, perSecond)
  if (operation.action === action && operation.perSecond === perSecond && isSame(operation, filter)) return operation
  const other = toId('op', operation.id)
  throw new AppError('conflict', `The workspace has ${other} in progress. Wait until it is done, or cancel it.`)
}

function isSame(operation: DeadLetterFilter, filter: DeadLetterFilter): boolean {
  const names = Object.keys(filter) as Array<keyof DeadLetterFilter> // a filter has all members
  return names.every(name => isDeepStrictEqual(operation[name], filter[name]))
}

function toFilter(filter: SettleDeadLettersBody['filter']): DeadLetterFilter {
  return {
    cronJobId: filter?.cronjob_id ?? null,
    topic: filter?.topic ?? null,
    executeFrom: filter?.from ?? null,
    executeTo: filter?.to ?? null,
    label: filter?.label ?? null,
    name: filter?.name ?? null,
    hosts: filter?.host?.map(inLowerCase) ?? null,
    errors: filter?.error ?? null,
  }
}

function inLowerCase(host: string): string {
  return host.toLowerCase()
}
