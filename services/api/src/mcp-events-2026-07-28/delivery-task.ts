import type { Subscription as SubscriptionRow } from '@belfry/db/generated/client'
import type { NewTask } from '@belfry/db/tasks/insert-tasks'
import { newUuid } from '@belfry/domain/id'
import type { Request } from 'express'
import type { Allowed } from '../auth/authorize.ts'

/** The caller of a request, with the rights to what its events schedule. */
export type Caller = { caller: Allowed<'cron_job.write'>; request: Request }

/** The columns of a subscription that its tasks have too. */
export type Delivery = Pick<
  SubscriptionRow,
  | ('id' | 'url' | 'headers' | 'labels')
  | ('maxRetries' | 'backoff' | 'baseDelayMs' | 'maxDelayMs' | 'retryDelays' | 'timeoutMs')
>

/** Returns a task that sends something to the callback of a subscription, signed with its secret. */
export function deliveryTask(
  { workspaceId }: Allowed,
  { id: subscriptionId, ...delivery }: Delivery,
  sent: Pick<NewTask, 'name' | 'payload' | 'executeAt'>,
): NewTask {
  const { url, headers, labels, maxRetries, backoff, baseDelayMs, maxDelayMs, retryDelays, timeoutMs } = delivery
  return {
    ...{ url, method: 'POST', headers, labels, maxRetries, backoff, baseDelayMs, maxDelayMs, retryDelays, timeoutMs },
    ...{ id: newUuid(), workspaceId, source: 'event', topic: null, eventId: null, replayOf: null },
    ...{ subscriptionId, isReport: true },
    ...sent,
  }
}
