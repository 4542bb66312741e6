import type { Callback } from './callback.ts'
import type { ControlFields, Id, ObjectKey, RequestFields, RetryPolicy, Timestamp } from './request.ts'
import type { Task } from './task.ts'

export type PublishEvent = Omit<RequestFields, 'payload' | 'payloadBase64' | 'contentType'> &
  ControlFields & {
    /** Dotted, such as `invoice.paid`. */
    topic: string
    /** A JSON object, or its JSON text, which Belfry sends byte for byte. */
    payload: string | object
    /** The only target. Default: every active subscription with a matching topic. A `connection` needs it. */
    targetUrl?: string | URL
  }

export type PublishedEvent = { id: Id; topic: string /** One for each target. */; tasks: Task[] }

export type CreateSubscription = Omit<RequestFields, 'payload' | 'payloadBase64' | 'contentType'> &
  ControlFields &
  ObjectKey & {
    /** The topic: an exact topic, `orders.*` for all topics below `orders`, or `*` for all topics. */
    topic: string
    /** Only events for which all of these hold are sent. At most 20. Default: none. */
    filter?: Condition[]
    targetUrl: string | URL
    /** Whether it receives events. Default true. */
    active?: boolean
  }

type Scalar = string | number | boolean | null

/**
 * A condition on a member of a payload. The names in `path` are joined by dots; a number selects an element of a list. A
 * missing member satisfies only `ne` and `exists: false`, and values of different types are never equal.
 */
export type Condition =
  | { path: string; op: 'eq' | 'ne'; value: Scalar }
  | { path: string; op: 'in'; value: Scalar[] }
  | { path: string; op: 'prefix'; value: string }
  | { path: string; op: 'exists'; value: boolean }
  | { path: string; op: 'gt' | 'gte' | 'lt' | 'lte'; value: number }

/** Omitted fields stay unchanged. A key of null removes the key. */
export type UpdateSubscription = Partial<Omit<CreateSubscription, 'key'>> & { key?: string | null }

/** A target that receives every event with a matching topic and payload. */
export type Subscription = {
  id: Id
  workspaceId: Id
  key: string | null
  topic: string
  filter: Condition[]
  url: string
  headers: Record<string, string>
  retry: RetryPolicy
  timeoutMs: number
  /** The name of the queue of its tasks. */
  queue: string | null
  /** The name of the connection that authenticates the calls of its tasks. */
  connection: string | null
  onSuccess: Callback | null
  onFailure: Callback | null
  onAttempt: Callback | null
  maxAgeMs: number | null
  labels: string[]
  active: boolean
  createdAt: Timestamp
  updatedAt: Timestamp
}
