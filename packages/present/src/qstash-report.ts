import { toId } from '@belfry/domain/id'
import type { QstashFields } from '@belfry/domain/qstash/qstash-fields'
import { bytesOf, type Report } from './stored-rows.ts'

/**
 * Returns the body of a callback of a message, in the form of QStash. Undefined members are not sent.
 * @param qstash - The `QstashFields` of the message, as JSON text.
 */
export function messageReport({ event, task, request, run }: Report, qstash: string) {
  const { topicName, endpointName, scheduleId, callerIP } = JSON.parse(qstash) as Partial<QstashFields>
  const { url, method, payload, content_type: type } = request
  const body = bytesOf(run?.response_body ?? null) ?? Buffer.from(run?.error_message ?? '')
  return {
    status: run?.response_status ?? 0,
    header: toLists(JSON.parse(run?.response_headers ?? '{}')),
    body: body.toString('base64'),
    retried: Math.max(task.attempts - task.lost - 1, 0),
    maxRetries: request.max_retries,
    sourceMessageId: toId('msg', task.id),
    topicName,
    endpointName,
    url,
    method,
    sourceHeader: toLists({ ...JSON.parse(request.headers), ...(type === null ? {} : { 'Content-Type': type }) }),
    sourceBody: type === null ? Buffer.from(payload ?? '').toString('base64') : (payload ?? undefined),
    notBefore: Date.parse(task.execute_at),
    createdAt: Date.parse(task.created_at),
    scheduleId,
    callerIP,
    dlqId: event === 'on_failure' ? toId('dlq', task.id) : undefined,
  }
}

function toLists(headers: Record<string, string | string[]>): Record<string, string[]> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, [value].flat()]))
}
