import type { Http } from '../http.ts'
import { type List, list } from '../list.ts'
import type { RequestOptions } from '../options.ts'
import { path } from '../path.ts'
import { toDispatchBody } from '../request-body.ts'
import type { CreateSubscription, Id, PageOptions, Subscription, UpdateSubscription } from '../types.ts'

const root = '/api/v1/scheduler/subscriptions'

/** Targets that get every event with a matching topic. */
export type Subscriptions = ReturnType<typeof subscriptionsOf>

export function subscriptionsOf(http: Http) {
  return {
    /** Sends every event with a matching topic to a target, from now on. */
    create: (subscription: CreateSubscription, options?: RequestOptions): Promise<Subscription> =>
      http.json({ method: 'POST', path: root, body: toDispatchBody(subscription), options }),

    /** A subscription as it is now. Throws `NotFoundError` when there is none. */
    get: (id: Id, options?: RequestOptions): Promise<Subscription> =>
      http.json({ method: 'GET', path: path`/api/v1/scheduler/subscriptions/${id}`, options }),

    /** Newest first. */
    list: (page: PageOptions = {}, options?: RequestOptions): List<Subscription> => list(http, root, page, options),

    /** What is left out stays. Events that are published later follow the change. */
    update: (id: Id, change: UpdateSubscription, options?: RequestOptions): Promise<Subscription> =>
      http.json({
        method: 'PATCH',
        path: path`/api/v1/scheduler/subscriptions/${id}`,
        body: toDispatchBody(change),
        options,
      }),

    /** Ends a subscription. What was published before is still sent. */
    delete: (id: Id, options?: RequestOptions): Promise<void> =>
      http.json({ method: 'DELETE', path: path`/api/v1/scheduler/subscriptions/${id}`, options }),
  }
}
