import type { CallbackEvent } from '@belfry/contract/callback'
import type { RunDetailRow, RunRow } from './run-row.ts'
import type { TaskRow } from './task-row.ts'

type Column<Field extends string> = Field extends `${infer First}${infer Rest}`
  ? `${First extends Lowercase<First> ? First : `_${Lowercase<First>}`}${Column<Rest>}`
  : ''
type Written<Value> = Value extends Date | Buffer ? string : Value
/** A row as PostgreSQL writes it in JSON. */
type Columns<Row> = { [Field in keyof Row & string as Column<Field>]: Written<Row[Field]> }

type RequestField = 'url' | 'method' | 'labels' | 'payload' | 'contentType' | 'isReport'
type StoredRun = Columns<Omit<RunDetailRow, RequestField | 'taskName'>>
type StoredRequest = Columns<Required<Pick<TaskRow, RequestField | 'name' | 'headers' | 'maxRetries' | 'qstash'>>>
type StoredTask = Columns<Pick<TaskRow, 'id' | 'attempts' | 'executeAt' | 'createdAt'>> & {
  run_id: string | null
  lost: number
}

/** A run in object storage, with its request and its task. The task is null when it had gone before the run. */
export type StoredLine = { run: StoredRun; request: StoredRequest; task: StoredTask | null }

/**
 * The rows that a callback reports. `run` is the latest run, or null if the task has not run. `mcp` is the type of the event,
 * if it is for an MCP client.
 */
export type Report = {
  event: CallbackEvent
  mcp?: string
  run: StoredRun | null
  request: StoredRequest
  task: StoredTask
}

/** Parses a line of a part. Returns null for a run without a request, because lists do not show it. */
export function parseStoredLine(line: string): StoredLine | null {
  const stored = JSON.parse(line)
  return stored.request === null ? null : stored
}

/** Returns the row that PostgreSQL would return in a list. */
export function toRunRow({ run, request: { name, url, method, labels } }: Pick<StoredLine, 'run' | 'request'>): RunRow {
  return { ...(fieldsOf(run) as RunRow), taskName: name, url, method, labels }
}

/** Returns the row that PostgreSQL would return for one run. */
export function toRunDetailRow({ run, request }: Pick<StoredLine, 'run' | 'request'>): RunDetailRow {
  const { payload, content_type: contentType, is_report: isReport } = request
  const row = toRunRow({ run, request }) as RunDetailRow
  return { ...row, payload, contentType, isReport, responseBody: bytesOf(run.response_body) }
}

/** Returns the row that PostgreSQL would return for a finished task, with its latest run. */
export function toTaskRow({ task, request, run }: Pick<Report, 'task' | 'request' | 'run'>): TaskRow {
  return {
    ...(fieldsOf(request) as TaskRow),
    ...(fieldsOf(task) as TaskRow),
    waitsFor: 0,
    lastRunId: run?.id ?? null,
    lastRunStatus: run?.status ?? null,
    lastRunResponseStatus: run?.response_status ?? null,
    lastRunErrorCode: run?.error_code ?? null,
    lastRunFinishedAt: run && new Date(run.finished_at),
  }
}

/** Parses bytes as PostgreSQL writes them in JSON: \x and hexadecimal digits. */
export function bytesOf(text: string | null): Buffer | null {
  return text === null ? null : Buffer.from(text.slice(2), 'hex')
}

// Only the columns of times end in _at.
function fieldsOf(row: object): unknown {
  const fields = Object.entries(row).map(([column, value]) => [
    column.replace(/_(.)/g, (_, letter) => letter.toUpperCase()),
    column.endsWith('_at') && value !== null ? new Date(value) : value,
  ])
  return Object.fromEntries(fields)
}
