import { setTimeout as sleep } from 'node:timers/promises'
import { type Connection, type ConnectionTest, connectionNamePattern } from '@belfry/contract/connection'
import { operations } from '@belfry/contract/operations'
import { readConnectionTest, requestConnectionTest } from '@belfry/db/connections/connection-tests'
import {
  type ConnectionEntry,
  findConnection,
  listConnections as listStored,
  deleteConnection as removeConnection,
  putConnection as storeConnection,
} from '@belfry/db/connections/connections'
import { listIdentityKeys, rotateIdentityKeys } from '@belfry/db/connections/identity-keys'
import { AppError, invalidField, notFound } from '@belfry/domain/app-error'
import { toId } from '@belfry/domain/id'
import { audit } from '../audit/audit.ts'
import type { Allowed } from '../auth/authorize.ts'
import { consumeOne } from '../auth/throttle.ts'
import type { Context } from '../context.ts'
import { endpoint } from '../endpoint.ts'
import { inspectTarget } from '../http/inspect-target.ts'
import { ApiResponse, created } from '../http/response.ts'
import { presentSettings, secretsOf, settingsOf } from './read-connection-body.ts'

const maxInWorkspace = 100
const nameForm = new RegExp(connectionNamePattern)

/** Returns all connections as one page: a workspace has few of them. */
export const listConnections = endpoint(operations.listConnections, async (ctx, { caller }) => {
  const found = await listStored(ctx.pool, caller.workspaceId)
  return { data: found.map(presentConnection), next_cursor: null }
})

export const getConnection = endpoint(operations.getConnection, async (ctx, { caller, params }) =>
  presentConnection(await readConnection(ctx, caller, params)),
)

export const putConnection = endpoint(operations.putConnection, {
  inspect: (ctx, body) => inspectTarget(ctx, body, 'token_url'),
  async handle(ctx, { caller, body, params: { connection: name } }) {
    const { workspaceId } = caller
    if (!nameForm.test(name)) {
      const message = 'A name has 1 to 64 letters, digits and . _ -, and starts with a letter or a digit.'
      throw invalidField('connection', 'invalid_connection_name', message, 'path')
    }
    const { masterKeys } = ctx.config
    // Verifiers may read the keys before the first token is signed.
    if (body.kind === 'identity_token') await rotateIdentityKeys(ctx.pool, masterKeys)
    const given = { name, kind: body.kind, settings: settingsOf(body), hosts: body.hosts }
    const result = await storeConnection(
      ctx.pool,
      masterKeys,
      workspaceId,
      given,
      before => secretsOf(body, before),
      maxInWorkspace,
      (tx, kind) => audit(tx, caller, `connection.${kind}`, name, { kind: body.kind, hosts: body.hosts }),
    )
    if (result === null) throw notFound()
    if (result.kind === 'full') {
      throw new AppError('conflict', `A workspace has at most ${maxInWorkspace} connections. Delete one first.`)
    }
    const presented = presentConnection(result.connection)
    if (result.kind === 'changed') return presented
    return created(`/api/v1/workspaces/${toId('ws', workspaceId)}/connections`, presented)
  },
})

export const deleteConnection = endpoint(operations.deleteConnection, async (ctx, { caller, params }) => {
  const { name } = await readConnection(ctx, caller, params)
  const result = await removeConnection(ctx.pool, caller.workspaceId, name, tx =>
    audit(tx, caller, 'connection.deleted', name),
  )
  if (result === 'unknown') throw notFound()
  if (result === 'in_use') {
    throw new AppError('connection_in_use', 'A cron job or a subscription names the connection. Change these first.')
  }
})

/** Returns the connection in the path. Throws `not_found`. */
async function readConnection(
  ctx: Context,
  { workspaceId }: Allowed<`connection.${'read' | 'delete' | 'test'}`>,
  { connection: name }: { connection: string },
): Promise<ConnectionEntry> {
  const found = nameForm.test(name) ? await findConnection(ctx.pool, workspaceId, name) : undefined
  if (found === undefined) throw notFound()
  return found
}

function presentConnection({ name, kind, settings, hosts, createdAt, updatedAt }: ConnectionEntry): Connection {
  return {
    name,
    kind,
    hosts,
    ...presentSettings(settings),
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  }
}

const pollMs = 100
const startTimeoutMs = 5_000
// Longer than a dispatcher takes for a token and a call.
const timeoutMs = 25_000

/** Asks a dispatcher to test a connection, because only dispatchers call addresses of users. */
export const testConnection = endpoint(operations.testConnection, {
  inspect: (ctx, body) => inspectTarget(ctx, body),
  async handle(ctx, { caller, body, params }) {
    const { workspaceId } = caller
    const { id, name, kind } = await readConnection(ctx, caller, params)
    const hasToken = kind === 'oauth2' || kind === 'identity_token'
    if (body.url === undefined && !hasToken) {
      const message = 'url is required: a connection of this kind has no token to request.'
      throw invalidField('url', 'required', message)
    }
    await consumeOne(ctx, 'connection tests of', workspaceId)
    await ctx.prisma.$transaction(tx => audit(tx, caller, 'connection.tested', name))
    const test = await requestConnectionTest(ctx.pool, workspaceId, id, body.url ?? null)
    return outcomeOf(ctx, workspaceId, test)
  },
})

async function outcomeOf(ctx: Context, workspaceId: string, id: string): Promise<ConnectionTest> {
  const startedAt = performance.now()
  for (;;) {
    const { isTaken, outcome } = await readConnectionTest(ctx.pool, workspaceId, id)
    if (outcome) return { ok: outcome.ok, message: outcome.message, response_status: outcome.responseStatus }
    const waitedMs = performance.now() - startedAt
    if (!isTaken && waitedMs > startTimeoutMs) return failed('No dispatcher has started the test within 5 seconds.')
    if (waitedMs > timeoutMs) return failed('The dispatcher has not ended the test within 25 seconds.')
    await sleep(pollMs)
  }
}

function failed(message: string): ConnectionTest {
  return { ok: false, message, response_status: null }
}

const cachedFor = { 'Cache-Control': 'public, max-age=3600' }

/** The public keys of identity tokens, for every verifier. */
export const getIdentityKeys = endpoint(
  operations.getIdentityKeys,
  async ctx => new ApiResponse({ status: 200, body: { keys: await listIdentityKeys(ctx.pool) }, headers: cachedFor }),
)

/** The discovery document of the issuer of identity tokens: verifiers find its keys by it. */
export const getIdentityDiscovery = endpoint(operations.getIdentityDiscovery, async ctx => {
  const issuer = ctx.config.publicUrl
  const body = {
    issuer,
    jwks_uri: `${issuer}/.well-known/jwks.json`,
    response_types_supported: ['id_token'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
    claims_supported: ['iss', 'sub', 'aud', 'iat', 'nbf', 'exp', 'jti', 'workspace_id', 'connection'],
  }
  return new ApiResponse({ status: 200, body, headers: cachedFor })
})
