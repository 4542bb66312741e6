import type { ControlFields, ObjectKey, RequestFields } from './request.ts'

export type PublishEvent = Omit<RequestFields, 'payload' | 'payloadBase64' | 'contentType'> &
  ControlFields & {
    /** Dotted, such as `invoice.paid`. */
    topic: string
    /** A JSON object, or its JSON text, which Belfry sends byte for byte. */
    payload: string | object
    /** The only target. Default: every active subscription with a matching topic. A `connection` needs it. */
    targetUrl?: string | URL
  }

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
