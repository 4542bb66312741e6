import type { ClaimedTask } from '@belfry/db/tasks/claimed-row'
import type { FinishedAttempt } from '@belfry/db/tasks/record-attempts'
import type { NextAttempt } from '@belfry/domain/next-attempt'
import type { WaitReason } from '@belfry/domain/wait-reason'
import type { ResponseOutcome } from '../egress/outcome.ts'
import type { AttemptOutcome } from '../secrets/attempt-outcome.ts'

/** Returns the record of an attempt. The headers and the outcome must not show secrets. */
export function toFinishedAttempt(
  task: ClaimedTask,
  headers: Readonly<Record<string, string>>,
  outcome: AttemptOutcome,
  next: NextAttempt,
  startedAt: Date,
  finishedAt: Date,
  waitedFor: WaitReason | null,
): FinishedAttempt {
  const response = outcome.kind === 'response' ? outcome : null
  const error = outcome.kind === 'failure' ? outcome : next.state === 'success' ? null : wrongStatus(outcome)
  return {
    taskId: task.taskId,
    runId: task.runId,
    state: next.state,
    retryDelayMs: next.state === 'retrying' ? next.delayMs : null,
    status: next.state === 'success' ? 'success' : 'failed',
    scheduledAt: task.scheduledAt,
    startedAt,
    finishedAt,
    requestHeaders: JSON.stringify(headers),
    responseStatus: response?.status ?? null,
    responseHeaders: response && withoutNul(JSON.stringify(response.headers)),
    responseBody: response?.body ?? null,
    responseBytes: response?.bodyBytes ?? null,
    responseTruncated: response?.bodyTruncated ?? false,
    errorCode: error?.code ?? null,
    errorMessage: error?.message ?? null,
    waitedFor,
    timings: outcome.timings ?? null,
  }
}

function wrongStatus({ status, headers: { location } }: ResponseOutcome): { code: string; message: string } {
  const isRedirect = status >= 300 && status < 400 && typeof location === 'string'
  const redirect = isRedirect ? ` Redirects are not followed (Location: ${location.slice(0, 2048)}).` : ''
  return { code: 'http_status', message: `The target answered with status ${status}.${redirect}` }
}

// PostgreSQL cannot store NUL, and a response must not prevent the record of its run.
function withoutNul(json: string): string {
  return json.includes('\\u0000') ? json.replaceAll('\\u0000', '\\ufffd') : json
}
