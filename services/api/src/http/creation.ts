import { createHash } from 'node:crypto'
import { answerOnce, type Db, insertTasks, type KeptAnswer, type Transaction } from '@belfry/db'
import { type ActionIn, AppError } from '@belfry/domain'
import { failpoint } from '@belfry/runtime'
import type { Request } from 'express'
import type { Context } from '../context.ts'
import { type Definition, type Endpoint, endpoint, type Input } from './endpoint.ts'
import { RawJson, toJsonText } from './json.ts'
import type { Reply } from './reply.ts'

/**
 * What an endpoint works with that creates something. With an `Idempotency-Key`, `db` is a transaction that also keeps
 * the answer, so whatever belongs to the creation has to go through it. What goes to the queue waits for the commit.
 */
export type Work = Omit<Context, 'pool'> & { db: Db }

export type Creation<R extends ActionIn<'workspace'>, Body, Query, Params extends string> = Omit<
  Definition<R, Body, Query, Params>,
  'handle'
> & { handle: (work: Work, input: Input<R, Body, Query, Params>) => Promise<Reply> }

/** An endpoint that creates something. Repeated with the same `Idempotency-Key`, it gives its first answer again. */
export function creation<
  R extends ActionIn<'workspace'>,
  Body = undefined,
  Query = undefined,
  Params extends string = never,
>(definition: Creation<R, Body, Query, Params>): Endpoint {
  return endpoint<R, Body, Query, Params>({
    ...definition,
    isIdempotent: true,
    async handle(ctx, input) {
      const key = readKey(input.request)
      const afterCommit: Array<() => void> = []
      const enqueue: Context['enqueue'] = (...tasks) => afterCommit.push(() => ctx.enqueue(...tasks))
      const hideDeadLetters: Context['hideDeadLetters'] = taskIds =>
        afterCommit.push(() => ctx.hideDeadLetters(taskIds))
      const create = (work: Through) => definition.handle({ ...ctx, ...work, enqueue, hideDeadLetters }, input)
      const reply =
        key === undefined
          ? await create({ db: ctx.pool, insertTask: ctx.insertTask, quotaStandings: ctx.quotaStandings })
          : await createOnce(ctx, toKeyedRequest(key, input), create)
      await failpoint('api.after_commit')
      for (const act of afterCommit) act()
      await failpoint('api.after_enqueue')
      return reply
    },
  })
}

// What is different in a transaction.
type Through = Pick<Work, 'db' | 'insertTask' | 'quotaStandings'>

async function createOnce(
  ctx: Context,
  request: Parameters<typeof answerOnce>[1],
  create: (work: Through) => Promise<Reply>,
): Promise<Reply> {
  const once = await answerOnce(ctx.pool, request, async tx =>
    toKeptAnswer(await create({ db: tx, insertTask: insertIn(tx), quotaStandings: ctx.quotaStandings.through(tx) })),
  )
  if (once.kind === 'reused') {
    const message = 'This Idempotency-Key was used for another request within the last 24 hours. Use a new one.'
    throw new AppError('idempotency_key_reused', message)
  }
  if (once.kind === 'in_progress') {
    const message = 'A request with this Idempotency-Key is still being worked on. Repeat this one in a moment.'
    throw new AppError('idempotency_in_progress', message)
  }
  return toReply(once.answer, once.kind === 'repeated')
}

function readKey(request: Request): string | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined || (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key))) return key
  const message = 'Idempotency-Key must consist of 1 to 255 visible ASCII characters, without spaces.'
  throw new AppError('validation_failed', message, {
    errors: [{ path: 'Idempotency-Key', code: 'invalid_value', message }],
  })
}

// The body is compared as it was sent. A key belongs to one path: it names one thing to be created.
function toKeyedRequest(
  key: string,
  { caller, request, bodyText }: { caller: { workspaceId: string }; request: Request; bodyText: string },
) {
  const hash = createHash('sha256').update(`${request.method} ${request.path}\n${bodyText}`).digest()
  return { workspaceId: caller.workspaceId, key, hash }
}

/** `insertTask` in a transaction. */
export function insertIn(tx: Transaction): Context['insertTask'] {
  return async task => {
    const [inserted] = await insertTasks(tx, [task])
    if (!inserted) throw new Error('The insert did not tell what became of the task.')
    return inserted
  }
}

function toKeptAnswer({ status, headers, body }: Reply): KeptAnswer {
  return { status, location: headers?.Location ?? null, answer: toJsonText(body) }
}

function toReply({ status, location, answer }: KeptAnswer, isRepeated: boolean): Reply {
  const headers = {
    ...(location === null ? {} : { Location: location }),
    ...(isRepeated ? { 'Idempotent-Replayed': 'true' } : {}),
  }
  return { status, body: new RawJson(answer), headers }
}
