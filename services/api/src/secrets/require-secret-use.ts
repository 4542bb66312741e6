import type { Db } from '@belfry/db/postgres/in-transaction'
import { AppError } from '@belfry/domain/app-error'
import { decide } from '@belfry/domain/permissions'
import { secretNames } from '@belfry/domain/secrets/secret-reference'
import type { Allowed } from '../auth/authorize.ts'

/** What a caller has written of a request, each part as text. */
export type Written = {
  url?: string | undefined
  headers?: string | undefined
  payload?: string | null | undefined
  callbacks?: string | null | undefined
}

/**
 * Refuses references to secrets that may go to any host, or that do not exist yet, of callers without the right
 * `secret.use`: who chooses the target would receive them.
 * @throws AppError `forbidden`
 */
export async function requireSecretUse(
  db: Db,
  { actor, workspaceId }: Allowed,
  requests: readonly Written[],
): Promise<void> {
  if (decide(actor, 'secret.use').allowed) return
  const texts = requests.flatMap(({ url, headers, payload, callbacks }) => [url, headers, payload, callbacks])
  const names = new Set(texts.flatMap(text => secretNames(text ?? '')))
  if (names.size === 0) return
  const text = `SELECT name FROM secrets WHERE workspace_id = $1 AND name = ANY ($2) AND allowed_hosts IS NOT NULL`
  const { rows } = await db.query<{ name: string }>(text, [workspaceId, [...names]])
  for (const { name } of rows) names.delete(name)
  const [name] = names
  if (name === undefined) return
  const detail = `This API key lacks the right secret.use, which a reference to ${name} needs: the secret has no allowed_hosts.`
  throw new AppError('forbidden', detail)
}
