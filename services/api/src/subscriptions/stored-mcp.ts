import type { Subscription } from '@belfry/contract/subscription'
import type { Subscription as SubscriptionRow } from '@belfry/db/generated/client'

/** What makes a subscription one of an MCP client. */
export type StoredMcp = {
  /** The type of the events. */
  name: string
  arguments: Record<string, unknown>
  /** Who subscribed at another MCP server; null for the API key that created it. */
  principal: string | null
  /** The columns that a task must have for an event about it; null for other events. */
  match: Record<string, unknown> | null
}

// A receiver may refuse more than 256 KiB, and the event has an envelope.
const maxDataBytes = 261_000

/**
 * Returns the payload of a task that sends a published event, of which `payloadOf` makes the body.
 * @param event - `text`: its payload; null for none.
 */
export function eventPayload(
  { name, principal }: StoredMcp,
  { topic, text }: { topic: string; text: string | null },
): string {
  const whole = principal === null ? `{"topic":${JSON.stringify(topic)},"payload":${text ?? '{}'}}` : (text ?? '{}')
  const bytes = Buffer.byteLength(whole)
  return `{"name":${JSON.stringify(name)},"data":${bytes > maxDataBytes ? `{"omitted_bytes":${bytes}}` : whole}}`
}

/** Returns the public form. */
export function presentMcp({ mcp }: Pick<SubscriptionRow, 'mcp'>): Subscription['mcp'] {
  const stored = mcp as StoredMcp | null
  return stored && { name: stored.name, arguments: stored.arguments, principal: stored.principal }
}
