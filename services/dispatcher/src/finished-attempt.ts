import type { ClaimedTask, FinishedAttempt } from '@belfry/db'
import type { NextAttempt } from '@belfry/domain'
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
    ...answerOf(outcome),
    ...errorOf(outcome, next),
  }
}

function answerOf(outcome: AttemptOutcome) {
  if (outcome.kind === 'failure') {
    const none = { responseStatus: null, responseHeaders: null, responseBody: null, responseBytes: null }
    return { ...none, responseTruncated: false }
  }
  return {
    responseStatus: outcome.status,
    responseHeaders: withoutNul(JSON.stringify(outcome.headers)),
    responseBody: outcome.body,
    responseBytes: outcome.bodyBytes,
    responseTruncated: outcome.bodyTruncated,
  }
}

function errorOf(outcome: AttemptOutcome, next: NextAttempt): Pick<FinishedAttempt, 'errorCode' | 'errorMessage'> {
  if (outcome.kind === 'failure') return { errorCode: outcome.code, errorMessage: outcome.message }
  if (next.state === 'success') return { errorCode: null, errorMessage: null }
  const location = outcome.status >= 300 && outcome.status < 400 ? outcome.headers.location : undefined
  const redirect =
    typeof location === 'string' ? ` Redirects are not followed (Location: ${location.slice(0, 2048)}).` : ''
  return { errorCode: 'http_status', errorMessage: `The target answered with status ${outcome.status}.${redirect}` }
}

// PostgreSQL cannot store it, and a target's answer must not be able to keep its run from being recorded.
function withoutNul(json: string): string {
  return json.replaceAll('\\u0000', '\\ufffd')
}
