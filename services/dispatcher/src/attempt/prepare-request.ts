import { isTransientDatabaseError } from '@belfry/db/postgres/database-errors'
import { UnreadableSecretError } from '@belfry/db/secrets/data-keys'
import type { ClaimedTask } from '@belfry/db/tasks/claimed-row'
import { createRedactor } from '@belfry/domain/secrets/redact'
import { type AttemptRequest, applyConnection } from '../connections/apply-connection.ts'
import type { UnsentOutcome } from '../egress/outcome.ts'
import { type OwnFailure, secretUnreadable } from '../secrets/attempt-outcome.ts'
import { type AttemptSecrets, peekAttemptSecrets, readAttemptSecrets } from '../secrets/attempt-secrets.ts'
import { type RequestParts, secretNamesOf } from '../secrets/fill-request.ts'
import { redactFault } from '../secrets/redact-outcome.ts'
import type { AttemptContext } from './attempt-context.ts'
import { type AttemptIds, buildRequest, type Identity, requestPartsOf, unsendable } from './build-request.ts'

/**
 * Reads the secrets of an attempt, builds its request, and adds the credentials of its connection. Most requests are ready
 * at once.
 * @param waited - See `applyConnection`.
 */
export function prepareRequest(
  ctx: AttemptContext,
  task: ClaimedTask,
  ids: AttemptIds,
  traceparent: string | null,
  waited: Promise<unknown> | null,
): AttemptRequest | Promise<AttemptRequest> {
  const parts = requestPartsOf(task)
  const names = secretNamesOf(parts)
  const cached = task.connection ? null : peekAttemptSecrets(ctx, task, names)
  if (cached) return buildWith(cached, task, ids, parts, traceparent, ctx.identity)
  return prepareSlowly(ctx, task, ids, parts, names, traceparent, waited)
}

async function prepareSlowly(
  ctx: AttemptContext,
  task: ClaimedTask,
  ids: AttemptIds,
  parts: RequestParts,
  names: readonly string[],
  traceparent: string | null,
  waited: Promise<unknown> | null,
): Promise<AttemptRequest> {
  let secrets: AttemptSecrets
  try {
    secrets = await readAttemptSecrets(ctx, task, names)
  } catch (error) {
    return unsendable(unsentBecause(ctx, ids, error))
  }
  logUnreadable(ctx, ids, secrets)
  const request = buildWith(secrets, task, ids, parts, traceparent, ctx.identity)
  const { workspaceId, connection: name } = task
  return name ? applyConnection(ctx, { workspaceId, name }, ids, request, waited) : request
}

// An error may quote the request, secrets included.
function buildWith(
  secrets: AttemptSecrets,
  task: ClaimedTask,
  ids: AttemptIds,
  parts: RequestParts,
  traceparent: string | null,
  identity: Identity,
): AttemptRequest {
  try {
    return buildRequest(task, ids, parts, secrets, traceparent, identity)
  } catch (error) {
    const values = [...secrets.secrets].flatMap(([name, secret]) =>
      secret instanceof Error ? [] : [{ name, value: secret.value }],
    )
    throw values.length === 0 ? error : redactFault(error, createRedactor(values))
  }
}

function unsentBecause(ctx: AttemptContext, ids: AttemptIds, error: unknown): OwnFailure | UnsentOutcome {
  if (isTransientDatabaseError(error)) {
    return { kind: 'unsent', message: 'The secrets of the workspace cannot be read: the database is away.' }
  }
  if (!(error instanceof UnreadableSecretError)) throw error
  ctx.log.error({ err: error, task: ids.task, run: ids.run }, 'secret.unreadable')
  return secretUnreadable('Nothing was sent: this installation cannot decrypt a signing secret.')
}

function logUnreadable(ctx: AttemptContext, ids: AttemptIds, { names, secrets }: AttemptSecrets): void {
  for (const name of names) {
    const secret = secrets.get(name)
    if (secret instanceof Error) {
      ctx.log.error({ err: secret, secret: name, task: ids.task, run: ids.run }, 'secret.unreadable')
    }
  }
}
