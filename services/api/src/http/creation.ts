import type { Db, KeyedRequest, NewTask, Transaction } from '@belfry/db'
import { type ActionIn, AppError } from '@belfry/domain'
import { failpoint } from '@belfry/runtime'
import type { Request } from 'express'
import type { Context } from '../context.ts'
import type { QuotaStandings } from '../quotas/quota-standings.ts'
import { type StoredTask, storeAlone, storeIn } from '../tasks/stored-task.ts'
import { createOnce, toKeyedRequest } from './create-once.ts'
import { type Definition, type Endpoint, endpoint, type Input } from './endpoint.ts'
import type { Reply } from './reply.ts'
import { canonicalPath } from './route-of.ts'

/** Stores one task; `present` makes the answer to it out of the time at which it was stored. */
export type StoreTask = (
  task: NewTask,
  present: (createdAt: string) => Reply,
) => Promise<{ stored: StoredTask; reply: Reply }>

/**
 * What an endpoint works with that creates something. With an `Idempotency-Key`, `db` is a transaction that also keeps
 * the answer, so whatever belongs to the creation has to go through it. What goes to the queue waits for the commit.
 */
export type Work = Pick<Context, 'config' | 'clock' | 'prisma' | 'rooms' | 'enqueue' | 'hideDeadLetters'> & Through

/** The part of it that a transaction changes. */
export type Through = {
  db: Db
  storeTask: StoreTask
  /** `storeTask` for a transaction that is opened on the way. */
  storeTaskIn: (tx: Transaction) => StoreTask
  quotaStandings: QuotaStandings
}

export type Creation<R extends ActionIn<'workspace'>, Body, Query, Params extends string> = Omit<
  Definition<R, Body, Query, Params>,
  'handle'
> & {
  /** Whether all that such a body makes the endpoint write is one task, by `storeTask`. Default false. */
  storesOneTask?: (body: Body) => boolean
  handle: (work: Work, input: Input<R, Body, Query, Params>) => Promise<Reply>
}

/** Does the work of an endpoint. */
export type RunWork = (through: Through) => Promise<Reply>

/** An endpoint that creates something. Repeated with the same `Idempotency-Key`, it gives its first answer again. */
export function creation<
  R extends ActionIn<'workspace'>,
  Body = undefined,
  Query = undefined,
  Params extends string = never,
>(definition: Creation<R, Body, Query, Params>): Endpoint {
  const { storesOneTask = () => false } = definition
  return endpoint<R, Body, Query, Params>({
    ...definition,
    isIdempotent: true,
    async handle(ctx, input) {
      const key = readKey(input.request)
      let afterCommit: Array<() => void> = []
      const run: RunWork = through => {
        afterCommit = []
        return definition.handle(toWork(ctx, through, afterCommit), input)
      }
      const reply =
        key === undefined
          ? await run(throughPool(ctx))
          : await createOnce(ctx, keyedRequest(key, input), run, storesOneTask(input.body))
      await failpoint('api.after_commit')
      for (const act of afterCommit) act()
      await failpoint('api.after_enqueue')
      return reply
    },
  })
}

// Written out: copying the whole context would cost more than anything else here.
function toWork(ctx: Context, through: Through, afterCommit: Array<() => void>): Work {
  return {
    config: ctx.config,
    clock: ctx.clock,
    prisma: ctx.prisma,
    rooms: ctx.rooms,
    quotaStandings: through.quotaStandings,
    db: through.db,
    storeTask: through.storeTask,
    storeTaskIn: through.storeTaskIn,
    enqueue: (tasks, now) => afterCommit.push(() => ctx.enqueue(tasks, now)),
    hideDeadLetters: taskIds => afterCommit.push(() => ctx.hideDeadLetters(taskIds)),
  }
}

/** Work that is not in a transaction. */
export function throughPool(ctx: Context): Through {
  return { db: ctx.pool, storeTask: storeAlone(ctx), storeTaskIn: storeIn, quotaStandings: ctx.quotaStandings }
}

function readKey(request: Request): string | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined || (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key))) return key
  const message = 'Idempotency-Key must consist of 1 to 255 visible ASCII characters, without spaces.'
  throw new AppError('validation_failed', message, {
    errors: [{ path: 'Idempotency-Key', code: 'invalid_value', message }],
  })
}

function keyedRequest(
  key: string,
  { caller, request, bodyText }: { caller: { workspaceId: string }; request: Request; bodyText: string },
): KeyedRequest {
  return toKeyedRequest(caller.workspaceId, key, `${request.method} ${canonicalPath(request)}`, bodyText)
}
