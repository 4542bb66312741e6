/** The columns of a request that count as storage, with its payload. */
const extraColumns = ['name', 'url', 'headers', 'callbacks'] as const
const countedColumns: ReadonlySet<string> = new Set(['payload', ...extraColumns])

// Bytes that are not counted: about the size of a row itself. Nearly all requests and runs stay below, so `extra_bytes`
// is usually null.
const freeRequestBytes = 1024
const freeRunBytes = 4096

/**
 * SQL: the bytes of a request that count in addition to its payload; null instead of 0. The value is stored with the
 * request, so its deletion frees the same bytes.
 * @param sqlOf - Returns the SQL of the value of a column. Default: its name.
 */
export function extraRequestBytes(sqlOf: (column: string) => string = column => column): string {
  return beyond(freeRequestBytes, extraColumns.map(sqlOf))
}

/** SQL: the bytes of a run that count in addition to the body of its response; null instead of 0. */
export const extraRunBytes = beyond(freeRunBytes, ['request_headers', 'response_headers'])

function beyond(free: number, values: readonly string[]): string {
  const lengths = values.map(value => `coalesce(octet_length(${value}), 0)`)
  return `nullif(greatest(${lengths.join(' + ')} - ${free}, 0), 0)`
}

/** SQL: the bytes that were counted for a stored request. */
export const storedRequestBytes = 'coalesce(octet_length(r.payload), 0) + coalesce(r.extra_bytes, 0)'

/** SQL: the bytes that were counted for a stored run. */
export const storedRunBytes = 'coalesce(octet_length(response_body), 0) + coalesce(extra_bytes, 0)'

/**
 * Returns the CTEs that delete the requests and the labels of deleted tasks of the workspace `$1`. The rows of
 * `requests` have the bytes that they free.
 */
export function deletedRequests(tasks: string): string {
  return `requests AS (
    DELETE FROM task_requests r USING ${tasks} t WHERE r.task_id = t.id
    RETURNING ${storedRequestBytes} AS bytes, r.task_id, r.labels
  ),
  unlabelled AS (
    DELETE FROM task_labels l USING (
      SELECT q.task_id, k.label FROM requests q CROSS JOIN LATERAL unnest(q.labels) AS k (label)
    ) gone
    WHERE l.workspace_id = $1 AND l.label = gone.label AND l.task_id = gone.task_id
  )`
}

/** Returns the CTE that records the storage that deleted rows of the workspace `$1` have freed. */
export function freedStorage(deleted: string): string {
  return `recorded AS (
    INSERT INTO usage_changes (workspace_id, storage_bytes)
    SELECT $1, -sum(bytes) FROM ${deleted} HAVING sum(bytes) > 0
  )`
}

/**
 * Returns the CTE that records the size of new requests.
 * @param stored - A query of the workspace, the payload and the extra bytes of each new task.
 */
export function countedRequests(stored: string): string {
  return `counted AS (
      INSERT INTO usage_changes (workspace_id, storage_bytes)
      SELECT workspace_id, sum(coalesce(octet_length(payload), 0) + coalesce(extra_bytes, 0)) FROM (${stored}) stored
      WHERE payload IS NOT NULL OR extra_bytes IS NOT NULL GROUP BY workspace_id
    )`
}

/**
 * Returns the CTEs that change the requests of `task`, a CTE of ids and workspaces, and record the change in size. They lock
 * the requests before they read them, because another change of the same task may have committed since the statement began.
 * @param values - The SQL of the new value of each column.
 */
export function changedRequests(values: ReadonlyMap<string, string>): string {
  const sets = [...values].map(([column, value]) => `${column} = ${value}`)
  if (![...values.keys()].some(column => countedColumns.has(column))) {
    return `request AS (UPDATE task_requests r SET ${sets.join(', ')} FROM task WHERE r.task_id = task.id)`
  }
  const extra = extraRequestBytes(column => (values.has(column) ? `(${values.get(column)})::text` : `r.${column}`))
  return `before AS (
      SELECT r.task_id, task.workspace_id, ${storedRequestBytes} AS bytes
      FROM task JOIN task_requests r ON r.task_id = task.id FOR UPDATE OF r
    ),
    request AS (
      UPDATE task_requests r SET ${sets.join(', ')}, extra_bytes = ${extra}
      FROM before WHERE r.task_id = before.task_id
      RETURNING r.task_id, ${storedRequestBytes} AS bytes
    ),
    counted AS (
      INSERT INTO usage_changes (workspace_id, storage_bytes)
      SELECT workspace_id, sum(request.bytes - before.bytes) FROM request JOIN before USING (task_id)
      GROUP BY workspace_id HAVING sum(request.bytes - before.bytes) <> 0
    )`
}
