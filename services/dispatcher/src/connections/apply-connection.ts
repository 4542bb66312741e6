import { setTimeout as sleep } from 'node:timers/promises'
import type { OpenConnection } from '@belfry/db/connections/connections'
import { isTransientDatabaseError } from '@belfry/db/postgres/database-errors'
import { UnreadableSecretError } from '@belfry/db/secrets/data-keys'
import { isAllowedHost } from '@belfry/domain/secrets/allowed-hosts'
import type { Redactor } from '@belfry/domain/secrets/redact'
import type { UnsentOutcome } from '../egress/outcome.ts'
import type { OutgoingRequest, Sender } from '../egress/send.ts'
import { CertificateError } from '../egress/tls-senders.ts'
import { notSent, type OwnFailure } from '../secrets/attempt-outcome.ts'
import { type Credentials, credentialsOf } from './credentials.ts'
import type { ConnectionsContext } from './open-connections.ts'
import { TokenRequestError, UnsentTokenRequestError } from './request-token.ts'

type CallIds = { task: string; run: string }

/** The request of an attempt, or why it cannot be sent, and its headers with references in place of secrets. */
export type AttemptRequest = {
  outgoing: OutgoingRequest | OwnFailure | UnsentOutcome
  shownHeaders: Record<string, string>
  /** Hides the secrets of the request. Null without secrets. */
  redactor: Redactor | null
  /** Whether the log keeps the response, if the request has secrets. */
  keepsResponse: boolean
  /** The sender with the certificates of the connection. Null: the sender of all other calls. */
  sender: Sender | null
  /**
   * Returns the request with another access token, when the target has refused this one; null when there is none, or the
   * connection has changed. Null without an access token.
   */
  renew: (() => Promise<AttemptRequest | null>) | null
}

type Named = { workspaceId: string; name: string }

/**
 * Adds the credentials of a connection to a request, or says why it cannot be sent. The log shows a reference in their place.
 * A claim does not wait for a slow token endpoint: it counts as a start for the limits of its queue and its host, and its
 * deadline may pass.
 * @param waited - The credentials for which the task has waited without a claim. When these could not be had, the attempt fails
 * for the same reason; when they have expired since, it waits again. Null: it has not waited.
 */
export async function applyConnection(
  ctx: ConnectionsContext,
  named: Named,
  ids: CallIds,
  request: AttemptRequest,
  waited: Promise<unknown> | null,
): Promise<AttemptRequest> {
  const { outgoing } = request
  if ('kind' in outgoing) return request
  try {
    const connection = await findConnection(ctx, named)
    if (connection === null)
      return unsendable(request, notSent('connection_missing', `the workspace has no connection ${named.name}.`))
    const refusal = refusalOf(connection, outgoing.url)
    if (refusal) return unsendable(request, refusal)
    const requested = credentialsOf(ctx, connection)
    const credentials = await atOnce(requested)
    if (credentials !== null) return withCredentials(ctx, connection, request, outgoing, credentials)
    await waited
    const message = `The connection ${named.name} has no token yet.`
    return unsendable(request, { kind: 'unsent', message, until: requested })
  } catch (error) {
    return unsendable(request, reasonOf(ctx, named.name, ids, error))
  }
}

// A token in PostgreSQL, and most token endpoints, take less.
const atOnceMs = 100

/** Returns the credentials that are there soon; null when they take longer. */
async function atOnce(requested: Promise<Credentials>): Promise<Credentials | null> {
  const timer = new AbortController()
  const late = sleep(atOnceMs, null, { signal: timer.signal }).catch(() => null)
  return Promise.race([requested, late]).finally(() => timer.abort())
}

/**
 * Returns the connection of a name; null when the workspace has none. It may have been stored since the others were cached.
 * @throws UnreadableSecretError when this installation cannot decrypt it.
 */
export async function findConnection(
  ctx: { connections: Pick<ConnectionsContext['connections'], 'get' | 'reload'> },
  { workspaceId, name }: Named,
): Promise<OpenConnection | null> {
  const cached = (await ctx.connections.get(workspaceId))?.get(name)
  if (cached !== undefined && !(cached instanceof Error)) return cached
  const found = (await ctx.connections.reload(workspaceId))?.get(name)
  if (found instanceof Error) throw found
  return found ?? null
}

/** Returns why a connection must not be used for a URL; null when it may be. */
export function refusalOf({ name, hosts, kind }: OpenConnection, url: string): OwnFailure | null {
  if (!isAllowedHost(hosts, url))
    return notSent('connection_not_allowed', `the host of the URL is not one of those of the connection ${name}.`)
  if (kind !== 'tls' || url.toLowerCase().startsWith('https:')) return null
  return notSent('connection_not_allowed', 'a connection of the kind tls needs an https URL.')
}

function withCredentials(
  ctx: ConnectionsContext,
  connection: OpenConnection,
  request: AttemptRequest,
  outgoing: OutgoingRequest,
  credentials: Credentials,
): AttemptRequest {
  const { header, hidden, tokenId } = credentials
  const reference = `{{ connections.${connection.name} }}`
  const put = (headers: Record<string, string>, value: string) =>
    header === null ? headers : { ...without(headers, header.name), [header.name]: value }
  return {
    outgoing: { ...outgoing, headers: put(outgoing.headers, header?.value ?? '') },
    shownHeaders: put(request.shownHeaders, reference),
    redactor:
      hidden.length === 0 ? request.redactor : joined(request.redactor, ctx.credentialRedactors.get(hidden, reference)),
    keepsResponse: request.keepsResponse && connection.keepsResponses,
    sender: ctx.tlsSenders.of(connection),
    renew:
      tokenId === null
        ? null
        : async () => {
            try {
              // Since the call was sent, the connection may have got other hosts and credentials.
              const current = await findConnection(ctx, connection)
              if (current?.id !== connection.id || current.version !== connection.version) return null
              const next = await credentialsOf(ctx, connection, tokenId)
              return withCredentials(ctx, connection, request, outgoing, next)
            } catch (error) {
              const isKnown = error instanceof TokenRequestError || error instanceof UnreadableSecretError
              if (isKnown || isTransientDatabaseError(error)) return null
              throw error
            }
          },
  }
}

function without(headers: Record<string, string>, name: string): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([own]) => own.toLowerCase() !== name.toLowerCase()))
}

function joined(first: Redactor | null, second: Redactor): Redactor {
  if (first === null) return second
  return {
    text: async text => second.text(await first.text(text)),
    bytes: async (bytes, isCut) => second.bytes(await first.bytes(bytes, isCut), isCut),
  }
}

function reasonOf(
  ctx: ConnectionsContext,
  name: string,
  { task, run }: CallIds,
  error: unknown,
): OwnFailure | UnsentOutcome {
  if (error instanceof UnsentTokenRequestError) return { kind: 'unsent', message: error.message }
  if (error instanceof TokenRequestError || error instanceof CertificateError)
    return notSent('connection_failed', error.message)
  if (isTransientDatabaseError(error)) {
    return { kind: 'unsent', message: 'The connection cannot be read: the database is away.' }
  }
  if (!(error instanceof UnreadableSecretError)) throw error
  ctx.log.error({ err: error, connection: name, task, run }, 'secret.unreadable')
  return notSent('secret_unreadable', `this installation cannot decrypt the connection ${name}.`)
}

function unsendable(request: AttemptRequest, outgoing: OwnFailure | UnsentOutcome): AttemptRequest {
  return { ...request, outgoing, redactor: null }
}
