import type { ClaimedTask, FinishedAttempt } from '@belfry/db'
import type { NextAttempt } from '@belfry/domain'
import type { ResponseOutcome } from './egress/outcome.ts'
import type { AttemptOutcome } from './secrets/attempt-outcome.ts'

/** Turns an attempt and its outcome, neither of which shows a secret, into what is stored of it. */
export function toFinishedAttempt(
  task: ClaimedTask,
  headers: Readonly<Record<string, string>>,
  outcome: AttemptOutcome,
  next: NextAttempt,
  startedAt: Date,
  durationMs: number,
): FinishedAttempt {
  const answer = outcome.kind === 'response' ? outcome : null
  const error = outcome.kind === 'failure' ? outcome : next.state === 'success' ? null : wrongStatus(outcome)
  return {
    taskId: task.taskId,
    runId: task.runId,
    state: next.state,
    retryDelayMs: next.state === 'retrying' ? next.delayMs : null,
    status: next.state === 'success' ? 'success' : 'failed',
    scheduledAt: task.scheduledAt,
    startedAt,
    finishedAt: new Date(startedAt.getTime() + durationMs),
    requestHeaders: JSON.stringify(headers),
    responseStatus: answer?.status ?? null,
    responseHeaders: answer && withoutNul(JSON.stringify(answer.headers)),
    responseBody: answer?.body ?? null,
    responseBytes: answer?.bodyBytes ?? null,
    responseTruncated: answer?.bodyTruncated ?? false,
    errorCode: error?.code ?? null,
    errorMessage: error?.message ?? null,
  }
}

function wrongStatus({ status, headers: { location } }: ResponseOutcome): { code: string; message: string } {
  const isRedirect = status >= 300 && status < 400 && typeof location === 'string'
  const redirect = isRedirect ? ` Redirects are not followed (Location: ${location.slice(0, 2048)}).` : ''
  return { code: 'http_status', message: `The target answered with status ${status}.${redirect}` }
}

// PostgreSQL cannot store it, and a target's answer must not be able to keep its run from being recorded.
function withoutNul(json: string): string {
  return json.replaceAll('\\u0000', '\\ufffd')
}
