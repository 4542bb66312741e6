import { readFile } from 'node:fs/promises'
import { setQstashSigningKeys } from '@belfry/db/qstash/signing-keys'
import { AppError } from '@belfry/domain/app-error'
import { parseJson } from '@belfry/domain/json-text'
import type { Request } from 'express'
import { findApiKey, hashTextOf } from '../auth/api-key.ts'
import type { Context } from '../context.ts'

/** The public credentials of QStash's development mode. Its clients accept any server on loopback that knows them. */
const devCredentials = {
  token: 'eyJVc2VySUQiOiJkZWZhdWx0VXNlciIsIlBhc3N3b3JkIjoiZGVmYXVsdFBhc3N3b3JkIn0=',
  signingKeys: { current: 'sig_7kYjw48mhY7kAjqNGcy6cr29RJ6r', next: 'sig_5ZB6DVzB1wjE8S6rZ7eenA8Pdnhs' },
}

/**
 * Makes the token of a request the API key of its caller: a bearer token or `qstash_token`, or the public token of the
 * development mode. Removes it from the URL, because the URL may contain the destination of a message.
 * @throws AppError `unauthenticated`.
 */
export async function acceptToken(ctx: Context, request: Request): Promise<void> {
  const { firstAccount, qstash } = ctx.config
  const bearer = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1]
  // A page in a browser can send a query without asking, so the public token is accepted in the header only.
  const isPublic = bearer === devCredentials.token && qstash?.devPort !== undefined && isFromLoopback(request)
  request.headers['x-api-key'] =
    isPublic && firstAccount !== null ? await findDevKey(ctx, firstAccount, request) : (bearer ?? takeToken(request))
}

function takeToken(request: Request): string {
  const [path = '', ...search] = request.originalUrl.split('?')
  const parts = search.join('?').split('&')
  const named = parts.find(part => part.startsWith('qstash_token='))
  if (named === undefined) {
    throw new AppError('unauthenticated', 'unauthorized: send an API key of Belfry as Authorization: Bearer <token>')
  }
  const others = parts.filter(part => part !== named).join('&')
  request.originalUrl = others === '' ? path : `${path}?${others}`
  return new URLSearchParams(named).get('qstash_token') ?? ''
}

// A call of a dispatcher is the wish of a tenant, who has read the public token too.
function isFromLoopback({ socket, headers }: Request): boolean {
  const address = socket.remoteAddress ?? ''
  const isOfOthers = ['x-forwarded-for', 'forwarded', 'x-belfry-depth'].some(name => headers[name] !== undefined)
  return !isOfOthers && (address === '::1' || /^(::ffff:)?127\./.test(address))
}

const prepared = new WeakMap<Context, Promise<string>>()

// The workspace of the first account then signs with the public keys.
function findDevKey(ctx: Context, path: string, request: Request): Promise<string> {
  const preparing = prepared.get(ctx) ?? prepare(ctx, path, request)
  prepared.set(ctx, preparing)
  preparing.catch(() => prepared.delete(ctx))
  return preparing
}

async function prepare(ctx: Context, path: string, request: Request): Promise<string> {
  const key = await readKey(path)
  if (key === null) throw new AppError('unauthenticated', 'unauthorized: the first account does not exist yet')
  const cached = ctx.apiKeys.get(hashTextOf(key)) ?? (await findApiKey(ctx, request, key, 'unknown'))
  await setQstashSigningKeys(ctx.pool, ctx.config.masterKeys, cached.workspaceId, devCredentials.signingKeys)
  return key
}

async function readKey(path: string): Promise<string | null> {
  const text = await readFile(path, 'utf8').catch(() => '')
  const { apiKey } = Object(parseJson(text)) as { apiKey?: unknown }
  return typeof apiKey === 'string' ? apiKey : null
}
