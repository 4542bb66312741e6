import type { Db } from '@belfry/db/postgres/in-transaction'
import { AppError } from '@belfry/domain/app-error'
import { decide } from '@belfry/domain/permissions'
import { secretNames } from '@belfry/domain/secrets/secret-reference'
import type { Allowed } from '../auth/authorize.ts'
import { given } from '../http/given.ts'

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
 * @param stored - Reads the stored request. When a change of the URL keeps its other parts, they go to the new target.
 * @throws AppError `forbidden`
 */
export async function requireSecretUse(
  db: Db,
  { actor, workspaceId }: Allowed,
  requests: readonly Written[],
  stored?: () => Promise<Written | null | undefined>,
): Promise<void> {
  if (decide(actor, 'secret.use').allowed) return
  const rest = stored && requests.some(({ url }) => url !== undefined) ? await stored() : null
  const names = new Set(requests.flatMap(request => namesIn(rest ? { ...rest, ...given(request) } : request)))
  if (names.size === 0) return
  const text = `SELECT name FROM secrets WHERE workspace_id = $1 AND name = ANY ($2) AND allowed_hosts IS NOT NULL`
  const { rows } = await db.query<{ name: string }>(text, [workspaceId, [...names]])
  for (const { name } of rows) names.delete(name)
  const [name] = names
  if (name === undefined) return
  const detail = `This API key lacks the right secret.use, which a reference to ${name} needs: the secret has no allowed_hosts.`
  throw new AppError('forbidden', detail)
}

// A text that is not sent as JSON is sent without its escapes, and its content type may be written later.
function namesIn({ url, headers, payload, callbacks }: Written): string[] {
  const text = payload?.startsWith('"') ? (JSON.parse(payload) as string) : payload
  return [url, headers, text, callbacks].flatMap(part => secretNames(part ?? ''))
}
