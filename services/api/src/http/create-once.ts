import { hash } from 'node:crypto'
import { answerOnce, type KeptAnswer, type KeyedRequest } from '@belfry/db'
import { AppError } from '@belfry/domain'
import type { Context } from '../context.ts'
import { timeMark } from '../tasks/insert-batches.ts'
import { isStored, storeIn } from '../tasks/stored-task.ts'
import type { RunWork, StoreTask } from './creation.ts'
import { RawJson, toJsonText } from './json.ts'
import type { Reply } from './reply.ts'

/** The body is compared as it was sent. A key belongs to one path: it names one thing to be created. */
export function toKeyedRequest(workspaceId: string, key: string, target: string, bodyText: string): KeyedRequest {
  return { workspaceId, key, hash: hash('sha256', `${target}\n${bodyText}`, 'buffer') }
}

/**
 * Does the work of a request with a key, or gives the answer that it was given before.
 * @param isOneTask - Whether all that the work writes is one task: then it shares a statement with many others, and only
 * what that leaves out needs a transaction of its own.
 * @throws AppError `idempotency_key_reused`, `idempotency_in_progress`, or what the work is refused with.
 */
export async function createOnce(
  ctx: Context,
  request: KeyedRequest,
  run: RunWork,
  isOneTask: boolean,
): Promise<Reply> {
  const name = `${request.workspaceId} ${request.key}`
  if (ctx.keysInProgress.has(name)) throw inProgress()
  ctx.keysInProgress.add(name)
  try {
    const reply = isOneTask ? await createTogether(ctx, request, run) : undefined
    return reply ?? (await ctx.inLine(() => createAlone(ctx, request, run)))
  } finally {
    ctx.keysInProgress.delete(name)
  }
}

const leftOut = new Error('The statement has left this task out.')

// Undefined unless the work was done, for the first time.
async function createTogether(ctx: Context, request: KeyedRequest, run: RunWork): Promise<Reply | undefined> {
  const storeTask: StoreTask = async (task, present) => {
    const stored = await ctx.insertKeyedTask({ task, request, answer: toKeptAnswer(present(timeMark)) })
    if (!isStored(stored)) throw leftOut
    return { stored, reply: present(stored.createdAt.toISOString()) }
  }
  // A transaction on the way would not keep the answer.
  const storeTaskIn = (): never => {
    throw leftOut
  }
  try {
    return await run({ db: ctx.pool, storeTask, storeTaskIn, quotaStandings: ctx.quotaStandings })
  } catch (error) {
    // A request that is refused now may have been answered before.
    if (error === leftOut || error instanceof AppError) return undefined
    throw error
  }
}

async function createAlone(ctx: Context, request: KeyedRequest, run: RunWork): Promise<Reply> {
  const once = await answerOnce(ctx.pool, request, async tx => {
    const quotaStandings = ctx.quotaStandings.through(tx)
    return toKeptAnswer(await run({ db: tx, storeTask: storeIn(tx), storeTaskIn: storeIn, quotaStandings }))
  })
  if (once.kind === 'reused') {
    const message = 'This Idempotency-Key was used for another request within the last 24 hours. Use a new one.'
    throw new AppError('idempotency_key_reused', message)
  }
  if (once.kind === 'in_progress') throw inProgress()
  return toReply(once.answer, once.kind === 'repeated')
}

function inProgress(): AppError {
  const message = 'A request with this Idempotency-Key is still being worked on. Repeat this one in a moment.'
  return new AppError('idempotency_in_progress', message)
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
