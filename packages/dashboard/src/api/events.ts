import type { PublishedEvent } from '@belfry/contract/event'
import { call } from './call.ts'
import type { FlowBody } from './tasks.ts'

export type NewEvent = { topic: string; payload: object; target_url?: string } & Partial<FlowBody>

export function publishEvent(workspaceId: string, body: NewEvent): Promise<PublishedEvent> {
  return call('POST', '/api/events', { body, workspaceId, idempotencyKey: crypto.randomUUID() })
}
