import { ApiError, type Belfry, BelfryError } from '@belfry/client'
import { type Batch, leaseMs, type OutboxRow, type Outcome } from './outbox.ts'

type RowResult = { error?: Problem }
type Problem = { status: number; detail: string; errors?: Array<{ message: string }> }

// A proxy in front of Belfry must not stop a relay for a day.
const maxWaitMs = 10 * 60_000

// The same request would be refused again. With other statuses, such as 401 or 429, it is not the row that has to change.
const finalStatuses = [400, 409, 413, 415, 422]
// A right or a quota that one row needs may be enough for the others.
const partialStatuses = [...finalStatuses, 402, 403]

/** Sends the rows of a batch in one request. Rejects only for defects. */
export async function sendRows(belfry: Belfry, rows: Batch): Promise<Outcome> {
  const { batch: idempotencyKey, kind, body } = rows[0]
  const options = { idempotencyKey, timeoutMs: leaseMs, maxRetries: 0 }
  try {
    if (rows.length === 1) {
      const path = kind === 'event' ? '/api/events' : '/api/v1/scheduler/tasks'
      const { id } = await belfry.request<{ id?: string }>('POST', path, { body, ...options })
      return id === undefined ? unknown() : outcome({ stored: idsOf(rows) })
    }
    const tasks = `{"tasks":[${rows.map(row => row.body).join(',')}]}`
    const path = '/api/v1/scheduler/tasks/batch'
    const { data = [] } = await belfry.request<{ data?: RowResult[] }>('POST', path, { body: tasks, ...options })
    return data.length === rows.length ? outcomeOf(rows, data) : unknown()
  } catch (error) {
    if (!(error instanceof BelfryError)) throw error
    if (!(error instanceof ApiError) || error.code === 'idempotency_in_progress') return failed(error)
    const problem = error.body as Problem | null
    // A key is reused when the rows were changed after they were sent. Belfry may have stored them.
    if (rows.length > 1 && error.code !== 'idempotency_key_reused') {
      // It may also have stored rows that were claimed before. A proxy, or a check of rights, answers without a look for the key.
      const isBeforeKey = error.status === 403 || (error.status !== 413 && !problem?.detail)
      const isAlone = partialStatuses.includes(error.status) && !(isBeforeKey && rows[0].attempts > 1)
      return isAlone ? outcome({ alone: idsOf(rows) }) : failed(error)
    }
    if (!finalStatuses.includes(error.status) || !problem?.detail) return failed(error)
    return outcome({ rejected: rows.map(({ id }) => ({ id, error: reasonOf(problem) })) })
  }
}

function outcomeOf(rows: readonly OutboxRow[], results: readonly RowResult[]): Outcome {
  const all = outcome({})
  for (const [i, { id }] of rows.entries()) {
    const error = results[i]?.error
    if (error === undefined) all.stored.push(id)
    else if (finalStatuses.includes(error.status)) all.rejected.push({ id, error: reasonOf(error) })
    else all.alone.push(id)
  }
  return all
}

// Rows are removed only for what Belfry says about them.
function unknown(): Outcome {
  return outcome({ failure: 'The response is not from Belfry. Is BELFRY_URL the URL of Belfry?' })
}

function failed(error: BelfryError): Outcome {
  const cause = error.cause instanceof Error ? ` ${error.cause.message}` : ''
  const isBusy = error instanceof ApiError && (error.status === 429 || error.status === 503)
  const waitMs = isBusy ? Math.min(error.retryAfterMs ?? 0, maxWaitMs) : 0
  return outcome({ failure: error.message + cause, waitMs })
}

function outcome(parts: Partial<Outcome>): Outcome {
  return { stored: [], rejected: [], alone: [], failure: null, waitMs: 0, ...parts }
}

/** Returns what Belfry says about the fields of a row. */
function reasonOf({ detail, errors = [] }: Problem): string {
  return errors.length === 0 ? detail : errors.map(({ message }) => message).join(' ')
}

function idsOf(rows: readonly OutboxRow[]): string[] {
  return rows.map(({ id }) => id)
}
