import type { Run, Subscription as SubscriptionRow } from '@belfry/db/generated/client'
import type { Db } from '@belfry/db/postgres/in-transaction'

// Enough to tell since when a subscription fails.
const lastTasks = 100

type Failure = Pick<Run, 'responseStatus' | 'errorCode'>
type Found = Failure & { lastDeliveryAt: Date | null; failedSince: Date | null }

/** Why a call of a callback failed. */
export type DeliveryError =
  | ('connection_refused' | 'timeout' | 'tls_error' | 'http_4xx' | 'http_5xx')
  /** It did not repeat the challenge. */
  | 'challenge_failed'

/** Reads from the log how the calls of a subscription have ended. They are found by their label. */
export async function readDeliveryStatus(db: Db, { workspaceId, key, active, pausedReason }: SubscriptionRow) {
  const text = `
    WITH ended AS MATERIALIZED (
      SELECT u.* FROM (
        SELECT task_id FROM task_labels WHERE workspace_id = $1 AND label = $2 ORDER BY task_id DESC LIMIT ${lastTasks}
      ) l JOIN runs u ON u.task_id = l.task_id AND u.workspace_id = $1
    ),
    succeeded AS (SELECT max(finished_at) AS at FROM ended WHERE status = 'success')
    SELECT s.at AS "lastDeliveryAt", min(e.finished_at) AS "failedSince",
           (array_agg(e.response_status ORDER BY e.id DESC))[1] AS "responseStatus",
           (array_agg(e.error_code ORDER BY e.id DESC))[1] AS "errorCode"
    FROM succeeded s LEFT JOIN ended e ON e.status = 'failed' AND e.finished_at > coalesce(s.at, '-infinity') GROUP BY s.at`
  const { rows } = await db.query<Found>({ name: 'read_delivery_status', text, values: [workspaceId, key] })
  const { lastDeliveryAt = null, failedSince = null, ...last } = rows[0] ?? {}
  return {
    active: active && pausedReason === null,
    last_delivery_at: lastDeliveryAt?.toISOString() ?? null,
    // Null if the last call succeeded.
    last_error: failedSince && deliveryErrorOf({ responseStatus: null, errorCode: null, ...last }),
    failed_since: failedSince?.toISOString() ?? null,
  }
}

/** Returns the category of a failed call. It must not quote the response: the caller has chosen the URL. */
export function deliveryErrorOf({ responseStatus, errorCode }: Failure): DeliveryError {
  if (responseStatus !== null) return responseStatus < 500 ? 'http_4xx' : 'http_5xx'
  if (errorCode?.startsWith('tls')) return 'tls_error'
  return errorCode === 'timeout' ? 'timeout' : 'connection_refused'
}
