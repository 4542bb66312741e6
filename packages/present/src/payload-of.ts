import { presentResponse, presentRun } from './present-run.ts'
import { messageReport } from './qstash-report.ts'
import { toJsonText } from './raw-json.ts'
import { type Report, toRunDetailRow, toTaskRow } from './stored-rows.ts'
import { taskForm } from './task-form.ts'
import type { StoredPayload } from './task-row.ts'

/** Returns the payload of a task as its target receives it: of a report, always the same text. */
export function payloadOf({ payload, isReport }: StoredPayload): string | null {
  return payload !== null && isReport ? reportText(JSON.parse(payload)) : payload
}

// References to secrets stay as they are: an escaped brace is not part of one, and two braces in a row occur only within the
// strings of a JSON text.
function reportText(report: Report): string {
  const body = report.request.qstash === null ? taskReport(report) : messageReport(report, report.request.qstash)
  return toJsonText(body).replaceAll('{{', '{\\u007b')
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
