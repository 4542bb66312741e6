import type { PublishEventBody } from '@belfry/contract'
import type { Db, StoredRequest } from '@belfry/db'
import { patternsOf } from '@belfry/domain'

/** Finds the targets of an event that names none: the workspace's active subscriptions to its topic. */
export async function findTargets(
  db: Db,
  workspaceId: string,
  event: Pick<PublishEventBody, 'topic' | 'headers'>,
): Promise<Array<Omit<StoredRequest, 'payload'>>> {
  const text = `
    SELECT url, 'POST' AS method, headers, max_retries AS "maxRetries", backoff, base_delay_ms AS "baseDelayMs",
           max_delay_ms AS "maxDelayMs", timeout_ms AS "timeoutMs"
    FROM subscriptions WHERE workspace_id = $1 AND active AND topic = ANY ($2::text[])
    ORDER BY id`
  const values = [workspaceId, patternsOf(event.topic)]
  const { rows } = await db.query<Omit<StoredRequest, 'payload'>>({ name: 'find_targets', text, values })
  return rows.map(row => ({ ...row, headers: JSON.stringify(mergeHeaders(event.headers, JSON.parse(row.headers))) }))
}

// The target may need the headers of its subscription, so an event does not replace them.
function mergeHeaders(ofEvent: Record<string, string>, own: Record<string, string>): Record<string, string> {
  const taken = new Set(Object.keys(own).map(name => name.toLowerCase()))
  const added = Object.entries(ofEvent).filter(([name]) => !taken.has(name.toLowerCase()))
  return { ...Object.fromEntries(added), ...own }
}
