import type { Subscription as SubscriptionRow } from '@belfry/db/generated/client'
import type { NewTask } from '@belfry/db/tasks/insert-tasks'
import { newUuid } from '@belfry/domain/id'
import type { Request } from 'express'
import type { Allowed } from '../auth/authorize.ts'

/** The caller of a request, with the rights to what its events schedule. */
export type Caller = { caller: Allowed<'cron_job.write'>; request: Request }

/** Returns a task that sends something to the callback of a subscription, signed with its secret. */
export function deliveryTask(
  subscription: SubscriptionRow,
  sent: Pick<NewTask, 'name' | 'payload' | 'executeAt'>,
): NewTask {
  const { id: subscriptionId, workspaceId, url, headers, labels, timeoutMs } = subscription
  const { maxRetries, backoff, baseDelayMs, maxDelayMs, retryDelays } = subscription
  return {
    ...{ url, method: 'POST', headers, labels, maxRetries, backoff, baseDelayMs, maxDelayMs, retryDelays, timeoutMs },
    ...{ id: newUuid(), workspaceId, source: 'event', topic: null, eventId: null, replayOf: null },
    ...{ subscriptionId, isReport: true },
    ...sent,
  }
}
