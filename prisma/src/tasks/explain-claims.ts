import type { Task } from '../generated/client.ts'
import type { Db } from '../postgres/in-transaction.ts'
import { type InputColumn, inputRows, inputValues } from '../postgres/statement-input.ts'
import { isQueued } from '../queues/queued-claim.ts'
import {
  type Claim,
  type ClaimedRow,
  type ClaimRequest,
  claimedRow,
  requestColumns,
  type ShortClaim,
  specialOf,
  toClaim,
} from './claimed-row.ts'
import { expiredReason, isExpired } from './expire-tasks.ts'
import { originOf } from './task-row.ts'

/**
 * SQL: a claim of the task `t` is never prefetched, so its attempt starts with the claim: an occurrence does not start
 * after a pause, a task not after its deadline, and a task with a key keeps the key.
 */
export const startsWithClaim = '(t.cron_job_id IS NOT NULL OR t.expires_at IS NOT NULL OR t.key IS NOT NULL)'

export const gone: Claim = { kind: 'gone' }

export async function explainClaims(db: Db, requests: readonly ClaimRequest[], quarantine: boolean) {
  const values = inputValues(unclaimedInput, requests)
  const { rows } = await db.query<UnclaimedRow>({ name: 'explain_claims', text: unclaimedStatement, values })
  const byId = new Map(rows.map(row => [row.taskId, row]))
  return new Map(requests.map(request => [request.taskId, explain(byId.get(request.taskId), request, quarantine)]))
}

export const unclaimedInput: ReadonlyArray<InputColumn<ClaimRequest>> = [
  ['id', 'uuid', ({ taskId }) => taskId],
  ['token', 'text', ({ token }) => token],
]
const claimedColumns = claimedRow('t.', {
  dueAt: 't.due_at',
  queueId: `CASE WHEN t.queue_id IS NOT NULL AND ${isQueued} THEN t.queue_id END`,
  refusal: 'NULL',
})
// Only a claim that carries the token needs its request, whose payload may be long.
export const unclaimedStatement = `
    WITH input AS (${inputRows(unclaimedInput)})
    SELECT ${claimedColumns}, ${requestColumns}, t.state, t.prefetched, t.quarantined, t.waits_for AS "waitsFor",
           extract(epoch FROM t.due_at - clock_timestamp())::float8 * 1000 AS "dueInMs", ${originOf('o.url')} AS origin,
           ${startsWithClaim} AS "startsWithClaim", ${isExpired} AS "isExpired"
    FROM input JOIN tasks t ON t.id = input.id JOIN task_requests o ON o.task_id = input.id
    LEFT JOIN task_requests r ON r.task_id = input.id AND right(t.run_id::text, 17) = right(input.token, 17)`

type UnclaimedRow = ClaimedRow &
  Pick<Task, 'state' | 'prefetched' | 'quarantined' | 'waitsFor'> & {
    origin: string
    dueInMs: number
    startsWithClaim: boolean
    isExpired: boolean
  }

function explain(row: UnclaimedRow | undefined, request: ClaimRequest, quarantine: boolean): Claim | ShortClaim {
  if (!row) return gone
  const { state, prefetched, quarantined, origin, dueInMs, waitsFor, startsWithClaim, isExpired } = row
  if (state === 'processing' && carries(row.runId, request.token)) return toClaim(row, prefetched)
  if ((state !== 'pending' && state !== 'retrying') || quarantined !== quarantine || waitsFor === 2) return gone
  if (isExpired) return { kind: 'gone', refusal: expiredReason }
  const { queueId } = specialOf(row)
  if (waitsFor === 1) return queueId == null ? gone : { kind: 'blocked', queueId }
  if (dueInMs > 0) return { kind: 'early', dueInMs }
  if (request.origin !== undefined && request.origin !== origin) return { kind: 'moved', origin }
  if (queueId != null && !request.isQueued) return { kind: 'queued' }
  return request.isPrefetch && startsWithClaim ? { kind: 'not_prefetchable' } : { kind: 'busy' }
}

// The id of a run is the time of its claim followed by the random half of the token.
function carries(runId: string, token: string): boolean {
  return runId.slice(-17) === token.slice(-17)
}
