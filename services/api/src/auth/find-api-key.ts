import { AppError } from '@belfry/domain'
import type { Request } from 'express'
import type { Context } from '../context.ts'
import { hashApiKey, isApiKey } from './api-key.ts'
import { spendKeyRequest } from './spend-request.ts'

/** A key that is in force, and whose it is. */
export type FoundApiKey = { keyId: string; workspaceId: string; organizationId: string; tier: string }

/**
 * Finds the API key that a request carries, and counts the request.
 * @throws AppError `unauthenticated` unless the key is in force, `rate_limited` when it has asked too much.
 */
export async function findApiKey(ctx: Context, request: Request, text: string): Promise<FoundApiKey> {
  const found = isApiKey(text) ? await findByHash(ctx, hashApiKey(text)) : undefined
  if (!found) throw new AppError('unauthenticated', 'The API key is unknown, expired or revoked.')
  spendKeyRequest(ctx, request, found.keyId, found.tier)
  return found
}

/** Asks the database, past what is remembered. Throws `unauthenticated` when the key has ended. */
export async function requireApiKeyInForce(ctx: Context, keyId: string): Promise<void> {
  const { rowCount } = await ctx.pool.query({
    name: 'is_api_key_in_force',
    text: `SELECT FROM api_keys WHERE id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())`,
    values: [keyId],
  })
  if (rowCount !== 1) throw new AppError('unauthenticated', 'The API key has ended.')
}

async function findByHash(ctx: Context, hash: Uint8Array): Promise<FoundApiKey | undefined> {
  const remembered = ctx.apiKeys.get(hash)
  if (remembered) return remembered
  const { rows } = await ctx.pool.query<FoundApiKey>({
    name: 'find_api_key',
    text: `SELECT k.id AS "keyId", k.workspace_id AS "workspaceId", w.organization_id AS "organizationId", o.tier
           FROM api_keys k JOIN workspaces w ON w.id = k.workspace_id JOIN organizations o ON o.id = w.organization_id
           WHERE k.hash = $1 AND k.revoked_at IS NULL AND (k.expires_at IS NULL OR k.expires_at > now())`,
    values: [hash],
  })
  if (rows[0]) ctx.apiKeys.set(hash, rows[0])
  return rows[0]
}
