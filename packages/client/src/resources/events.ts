import type { Http } from '../http.ts'
import type { CreateOptions } from '../options.ts'
import { withPayload } from '../request-body.ts'
import type { PublishEvent, PublishedEvent } from '../types/index.ts'

/** Immediate requests. */
export type Events = ReturnType<typeof eventsOf>

export function eventsOf(http: Http) {
  return {
    /** Publishes an event to `targetUrl` or to every matching subscription. It is stored when this resolves. */
    publish(event: PublishEvent, options?: CreateOptions): Promise<PublishedEvent> {
      return http.create('/api/events', withPayload(event), options)
    },
  }
}
