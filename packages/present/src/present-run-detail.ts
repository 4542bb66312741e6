import type { RunDetail } from '@belfry/contract/run'
import { requestBody } from '@belfry/domain/request-body'
import { payloadOf } from './payload-of.ts'
import { presentResponse, presentRun, readUtf8 } from './present-run.ts'
import type { RunDetailRow } from './run-row.ts'

/** Returns the public form of a run with its request and response. */
export function presentRunDetail(row: RunDetailRow): RunDetail {
  return { ...presentRun(row), request: presentRequest(row), response: presentResponse(row) }
}

// The request cannot change once its task has started, so the task's payload is the body that was sent.
function presentRequest(row: RunDetailRow): RunDetail['request'] {
  const payload = payloadOf(row)
  const headers = JSON.parse(row.requestHeaders ?? '{}')
  const sent = { url: row.url, method: row.method, headers }
  if (payload === null) return { ...sent, body: null, body_encoding: 'utf8', body_truncated: false }
  if (row.contentType === null) {
    return { ...sent, body: requestBody(payload, headers), body_encoding: 'utf8', body_truncated: false }
  }
  const text = readUtf8(Buffer.from(payload, 'base64'))
  const body_encoding = text === null ? 'base64' : 'utf8'
  return { ...sent, body: text ?? payload, body_encoding, body_truncated: false }
}
