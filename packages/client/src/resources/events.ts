import type { Http } from '../http.ts'
import { newIdempotencyKey } from '../idempotency-key.ts'
import type { CreateOptions } from '../options.ts'
import { withPayload } from '../request-body.ts'
import type { PublishEvent, PublishedEvent } from '../types.ts'

/** Calls at once. */
export type Events = ReturnType<typeof eventsOf>

export function eventsOf(http: Http) {
  return {
    /** Delivers at once, to `targetUrl` or to every matching subscription. Stored when this resolves. */
    publish(event: PublishEvent, options?: CreateOptions): Promise<PublishedEvent> {
      return http.json({
        method: 'POST',
        path: '/api/events',
        body: withPayload(event),
        idempotencyKey: options?.idempotencyKey ?? newIdempotencyKey(),
        options,
      })
    },
  }
}
