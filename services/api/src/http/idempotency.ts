import { hash } from 'node:crypto'
import { answerOnce, type KeptResponse, type KeyedRequest } from '@belfry/db/answer-once'
import type { Db } from '@belfry/db/postgres/in-transaction'
import { AppError } from '@belfry/domain/app-error'
import { RawJson, toJsonText } from '@belfry/present/raw-json'
import type { Request } from 'express'
import type { Context } from '../context.ts'
import { ApiResponse } from './response.ts'

/**
 * Reads the `Idempotency-Key` of a request. A key belongs to one method and path, and the body is compared as it was sent.
 * @throws AppError `validation_failed`
 */
export function readKeyedRequest(request: Request, key: string | string[], workspaceId: string, bodyText: string) {
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) {
    // With decoded parameters, because callers may escape the same path differently.
    const path = String(request.route.path).replace(/:(\w+)/g, (_, name: string) => String(request.params[name]))
    const text = `${request.method} ${path}\n${bodyText}`
    return { workspaceId, key, hash: hash('sha256', text, 'buffer') }
  }
  const message = 'Idempotency-Key must consist of 1 to 255 visible ASCII characters, without spaces.'
  throw new AppError('validation_failed', message, {
    errors: [{ path: 'Idempotency-Key', code: 'invalid_value', message }],
  })
}

/**
 * Runs a creation. With `keyed` set, the creation stores its response in the same statement as what it creates, or rejects
 * with `notStored`.
 */
export type RunCreation = (db: Db, keyed: KeyedRequest | null) => Promise<ApiResponse>

/** Rejects a creation that could not store its response, or whose key has been used before. */
export const notStored = new Error('The statement did not store the response.')

/**
 * Runs the creation of a request with a key, or returns the response that the request had before.
 * @param storesResponse - Whether the creation can store its response by itself. Otherwise, and when that fails, the creation
 * runs in a transaction that stores the response.
 * @throws AppError `idempotency_key_reused`, `idempotency_in_progress`, or a refusal of the creation.
 */
export async function runOnce(ctx: Context, request: KeyedRequest, run: RunCreation, storesResponse: boolean) {
  const name = `${request.workspaceId} ${request.key}`
  if (ctx.keysInProgress.has(name)) throw inProgress()
  ctx.keysInProgress.add(name)
  try {
    const response = storesResponse ? await runInStatement(ctx, request, run) : null
    return response ?? (await ctx.transactionLimit(() => runInTransaction(ctx, request, run)))
  } finally {
    ctx.keysInProgress.delete(name)
  }
}

// Returns null unless the creation ran, for the first time.
async function runInStatement(ctx: Context, request: KeyedRequest, run: RunCreation): Promise<ApiResponse | null> {
  try {
    return await run(ctx.pool, request)
  } catch (error) {
    // A request that is refused now may have been answered before.
    if (error === notStored || error instanceof AppError) return null
    throw error
  }
}

async function runInTransaction(ctx: Context, request: KeyedRequest, run: RunCreation): Promise<ApiResponse> {
  const once = await answerOnce(ctx.pool, request, async tx => toKeptResponse(await run(tx, null)))
  if (once.kind === 'reused') {
    const message = 'This Idempotency-Key was used for another request within the last 24 hours. Use a new one.'
    throw new AppError('idempotency_key_reused', message)
  }
  if (once.kind === 'in_progress') throw inProgress()
  const { status, location, answer } = once.answer
  const headers: Record<string, string> = location === null ? {} : { Location: location }
  if (once.kind === 'repeated') headers['Idempotent-Replayed'] = 'true'
  return new ApiResponse({ status, body: new RawJson(answer), headers })
}

function inProgress(): AppError {
  const message = 'A request with this Idempotency-Key is still in progress. Repeat this one in a moment.'
  return new AppError('idempotency_in_progress', message)
}

export function toKeptResponse({ parts: { status, headers, body } }: ApiResponse): KeptResponse {
  const location = headers?.Location
  return { status, location: typeof location === 'string' ? location : null, answer: toJsonText(body) }
}
