import type { TaskRequest } from '../generated/client.ts'
import type { InputColumn } from '../postgres/statement-input.ts'
import { extraRequestBytes } from '../usage/count-storage.ts'

type Origin = 'topic' | 'traceparent' | 'createdBy' | 'updatedBy' | 'depth' | 'subscriptionId' | 'isReport'
type Columns = Omit<TaskRequest, 'taskId' | 'name' | 'labels' | 'extraBytes' | Origin>
type Given = { [Field in keyof Columns as null extends Columns[Field] ? never : Field]: Columns[Field] }

/** The optional fields of a request. An omitted field is null. */
export type RequestOptions = Partial<Omit<Columns, keyof Given>>

/** The request of a task or a cron job, with its retries and its timeout. */
export type StoredRequest = Given & RequestOptions & Pick<Columns, 'payload'>

/** The columns of a request by field, in each table that has them: the name, the SQL type and the value of each. */
export const usualColumns = {
  url: ['url', 'text', ({ url }) => url],
  method: ['method', 'text', ({ method }) => method],
  headers: ['headers', 'text', ({ headers }) => headers],
  payload: ['payload', 'text', ({ payload }) => payload],
  contentType: ['content_type', 'text', ({ contentType }) => contentType],
  callbacks: ['callbacks', 'text', ({ callbacks }) => callbacks],
  queue: ['queue', 'text', ({ queue }) => queue],
  maxRetries: ['max_retries', 'int2', ({ maxRetries }) => maxRetries],
  backoff: ['backoff', 'backoff', ({ backoff }) => backoff],
  baseDelayMs: ['base_delay_ms', 'int4', ({ baseDelayMs }) => baseDelayMs],
  maxDelayMs: ['max_delay_ms', 'int4', ({ maxDelayMs }) => maxDelayMs],
  timeoutMs: ['timeout_ms', 'int4', ({ timeoutMs }) => timeoutMs],
} as const satisfies { [Field in keyof StoredRequest]?: InputColumn<StoredRequest> }

/** The columns that few requests have. */
export const optionColumns = {
  retryDelays: ['retry_delays', 'text', ({ retryDelays }) => retryDelays],
  qstash: ['qstash', 'text', ({ qstash }) => qstash],
  connection: ['connection', 'text', ({ connection }) => connection],
} as const satisfies { [Field in keyof RequestOptions]: InputColumn<RequestOptions> }

const allColumns: Record<keyof StoredRequest, InputColumn<never>> = Object.assign({}, usualColumns, optionColumns)

export const requestColumnOf = Object.fromEntries(
  Object.entries(allColumns).map(([field, [name]]) => [field, name]),
) as Record<keyof StoredRequest, string> // the fields of the record above

/**
 * Returns the CTE that stores the requests of tasks.
 * @param origin - The SQL of the columns in which they differ, by their names.
 * @param sqlOf - Returns the SQL of the value of any other column.
 * @param from - The rows that these values are from, as the text after FROM.
 */
export function requested(
  columns: readonly string[],
  origin: Readonly<Record<string, string>>,
  sqlOf: (column: string) => string,
  from: string,
): string {
  const names = ['task_id', ...columns, 'extra_bytes']
  const values = names.map(name => origin[name] ?? (name === 'extra_bytes' ? extraRequestBytes(sqlOf) : sqlOf(name)))
  return `requested AS (
      INSERT INTO task_requests (${names.join(', ')})
      SELECT ${values.join(', ')}
      FROM ${from}
    )`
}

/** Returns the SQL that selects columns of a table by the names of their fields. */
export function selectFields(alias: string, columns: Readonly<Record<string, string>>): string {
  return Object.entries(columns)
    .map(([field, column]) => `${alias}.${column} AS "${field}"`)
    .join(', ')
}

/**
 * Returns the SQL of the new value of a column, from the parameter of a change. A change replaces the callbacks that it
 * names, and removes those that are null.
 */
export function changedValue(column: string, parameter: string): string {
  if (column !== requestColumnOf.callbacks) return parameter
  const merged = `coalesce(${column}::jsonb, '{}') || ${parameter}::jsonb`
  return `nullif(jsonb_strip_nulls(${merged})::text, '{}')`
}
