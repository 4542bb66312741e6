import type { Http } from '../http.ts'
import { type List, list } from '../list.ts'
import type { RequestOptions } from '../options.ts'
import { path } from '../path.ts'
import { toDispatchBody } from '../request-body.ts'
import type {
  CreateSubscription,
  Id,
  PageOptions,
  Subscription,
  SubscriptionSecret,
  UpdateSubscription,
} from '../types/index.ts'

const root = '/api/v1/scheduler/subscriptions'

/** Targets that receive every event with a matching topic. */
export type Subscriptions = ReturnType<typeof subscriptionsOf>

export function subscriptionsOf(http: Http) {
  return {
    /** Creates a subscription, which receives every event with a matching topic from now on. */
    create: (subscription: CreateSubscription, options?: RequestOptions): Promise<Subscription> =>
      http.post(root, toDispatchBody(subscription), options),

    /** Returns a subscription. Throws `NotFoundError`. */
    get: (id: Id, options?: RequestOptions): Promise<Subscription> =>
      http.get(path`/api/v1/scheduler/subscriptions/${id}`, options),

    /** Lists subscriptions, newest first. */
    list: (page: PageOptions = {}, options?: RequestOptions): List<Subscription> => list(http, root, page, options),

    /** Changes a subscription for later events. Omitted fields stay unchanged. */
    update: (id: Id, change: UpdateSubscription, options?: RequestOptions): Promise<Subscription> =>
      http.patch(path`/api/v1/scheduler/subscriptions/${id}`, toDispatchBody(change), options),

    /** Deletes a subscription. Earlier events are still delivered. */
    delete: (id: Id, options?: RequestOptions): Promise<void> =>
      http.delete(path`/api/v1/scheduler/subscriptions/${id}`, options),

    /** The secrets that sign the calls of a subscription instead of those of the workspace. */
    signingSecrets: signingSecretsOf(http),
  }
}

function signingSecretsOf(http: Http) {
  return {
    /** Lists the current signing secret and, during a rotation, the previous one. Empty: those of the workspace sign. */
    list: (id: Id, page: PageOptions = {}, options?: RequestOptions): List<SubscriptionSecret> =>
      list(http, path`/api/v1/scheduler/subscriptions/${id}/signing-secrets`, page, options),

    /** Creates the first or a new signing secret. The previous one signs too for 24 hours. */
    rotate: (id: Id, options?: RequestOptions): Promise<SubscriptionSecret> =>
      http.post(path`/api/v1/scheduler/subscriptions/${id}/signing-secrets`, undefined, options),

    /** Ends the previous signing secret at once. */
    revoke: (id: Id, secretId: Id, options?: RequestOptions): Promise<void> =>
      http.delete(path`/api/v1/scheduler/subscriptions/${id}/signing-secrets/${secretId}`, options),

    /** Removes all of them, so the secrets of the workspace sign again. */
    remove: (id: Id, options?: RequestOptions): Promise<void> =>
      http.delete(path`/api/v1/scheduler/subscriptions/${id}/signing-secrets`, options),
  }
}
