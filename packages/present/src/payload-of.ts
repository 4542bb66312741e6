import { toId } from '@belfry/domain/id'
import type { QstashFields } from '@belfry/domain/qstash/qstash-fields'
import { headerCase } from '@belfry/domain/request-headers'
import { isMcpEvent, mcpEvent } from './mcp-event.ts'
import { presentResponse, presentRun } from './present-run.ts'
import { toJsonText } from './raw-json.ts'
import { bytesOf, type Report, toRunDetailRow, toTaskRow } from './stored-rows.ts'
import { taskForm } from './task-form.ts'
import type { StoredPayload } from './task-row.ts'

/**
 * Returns the payload of a task as its target receives it: of a report, always the same text.
 * @param id - The id of the task. It identifies an event of MCP.
 * @param at - When it was to be executed.
 */
export function payloadOf({ payload, isReport }: StoredPayload, id: string, at: Date | string): string | null {
  if (payload === null || !isReport) return payload
  if (isMcpEvent(payload)) return mcpEvent(payload, id, at)
  const report: Report = JSON.parse(payload)
  return report.mcp ? mcpEvent(toJsonText({ name: report.mcp, data: eventData(report) }), id, at) : reportText(report)
}

// References to secrets stay as they are, as in `mcpEvent`.
function reportText(report: Report): string {
  const body = report.request.qstash === null ? taskReport(report) : messageReport(report, report.request.qstash)
  return toJsonText(body).replaceAll('{{', '{\\u007b')
}

// Without the bodies and headers of both sides: an event has at most 256 KiB, and an agent can read the run.
function eventData({ task, request, run }: Report) {
  const { id, name, source, cronjob_id, topic, url, method, ...rest } = taskForm(toTaskRow({ task, request, run }))
  const { execute_at, state, state_reason, attempts, labels, next_retry_at, last_run } = rest
  const progress = { execute_at, state, state_reason, attempts, labels, next_retry_at, last_run }
  return { id, name, source, cronjob_id, topic, url, method, ...progress }
}

function taskReport({ task, request, run }: Report) {
  return { task: taskForm(toTaskRow({ task, request, run })), run: run && runReport(toRunDetailRow({ run, request })) }
}

function runReport(row: ReturnType<typeof toRunDetailRow>) {
  const response = presentResponse(row)
  if (response === null) return { ...presentRun(row), response }
  const { status, headers, body, body_encoding, body_bytes, body_truncated } = response
  const isText = body_encoding === 'utf8' && !body.includes('\0')
  const body_base64 = isText ? null : (row.responseBody?.toString('base64') ?? '')
  const shown = { status, headers, body: isText ? body : null, body_base64, body_bytes, body_truncated }
  return { ...presentRun(row), response: shown }
}

/**
 * Returns the body of a callback of a message, in the form of QStash. Undefined members are not sent.
 * @param qstash - The `QstashFields` of the message, as JSON text.
 */
function messageReport({ event, task, request, run }: Report, qstash: string) {
  const { topicName, endpointName, scheduleId, callerIP } = JSON.parse(qstash) as Partial<QstashFields>
  const { url, method, payload, content_type: type } = request
  const body = bytesOf(run?.response_body ?? null) ?? Buffer.from(run?.error_message ?? '')
  return {
    status: run?.response_status ?? 0,
    header: headerLists(JSON.parse(run?.response_headers ?? '{}')),
    body: body.toString('base64'),
    retried: Math.max(task.attempts - task.lost - 1, 0),
    maxRetries: request.max_retries,
    sourceMessageId: toId('msg', task.id),
    topicName,
    endpointName,
    url,
    method,
    sourceHeader: headerLists({ ...JSON.parse(request.headers), ...(type === null ? {} : { 'Content-Type': type }) }),
    sourceBody: type === null ? Buffer.from(payload ?? '').toString('base64') : (payload ?? undefined),
    notBefore: Date.parse(task.execute_at),
    createdAt: Date.parse(task.created_at),
    scheduleId,
    callerIP,
    dlqId: event === 'on_failure' ? toId('dlq', task.id) : undefined,
  }
}

/** Returns headers in the form of QStash: `X-Name` with a list of values. */
export function headerLists(headers: Record<string, string | string[]>): Record<string, string[]> {
  const entries = Object.entries(headers)
  return Object.fromEntries(entries.map(([name, value]) => [headerCase(name), [value].flat()]))
}
