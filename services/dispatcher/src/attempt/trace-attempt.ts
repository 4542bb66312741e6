import type { ClaimedTask } from '@belfry/db/tasks/claimed-row'
import { toId } from '@belfry/domain/id'
import type { Span, Tracing } from '@belfry/runtime'
import type { UnsentOutcome } from '../egress/outcome.ts'
import type { AttemptOutcome } from '../secrets/attempt-outcome.ts'

/** Starts the span of an attempt, in the trace of the request that created the task or in a new one. */
export function traceAttempt(tracing: Tracing, task: ClaimedTask): Span {
  return tracing.start({
    name: `dispatch ${task.method}`,
    kind: 'client',
    parent: task.traceparent,
    startedAt: task.claimedAt,
    attributes: {
      'http.request.method': task.method,
      'belfry.task_id': toId('task', task.taskId),
      'belfry.run_id': toId('run', task.runId),
      'belfry.workspace_id': toId('ws', task.workspaceId),
      'belfry.attempt': task.attempt,
      'belfry.lag_ms': task.claimedAt.getTime() - task.scheduledAt.getTime(),
    },
  })
}

/** Ends the span with the outcome. The span omits the request and its URL, because they may contain secrets. */
export function endTrace(span: Span, outcome: AttemptOutcome | UnsentOutcome): void {
  if (outcome.kind !== 'response') {
    span.end({ error: outcome.kind === 'unsent' ? 'unsent' : outcome.code })
    return
  }
  const { status } = outcome
  const error = status >= 200 && status < 300 ? null : String(status)
  span.end({ attributes: { 'http.response.status_code': status }, error })
}
