import { integer, refuse, textField } from '@belfry/contract/fields'
import { filterField } from '@belfry/contract/payload-filter'
import { line, sealedUrl, textRule, topic, topicPattern } from '@belfry/contract/text-rules'
import { z } from 'zod'

const secretRule = textRule({}, text => {
  const [, digits = ''] = /^whsec_([A-Za-z0-9+/]*)={0,2}$/.exec(text) ?? []
  const bytes = Math.floor((digits.length * 3) / 4)
  if (bytes >= 24 && bytes <= 64) return { value: text }
  return { code: 'invalid_value', must: 'be whsec_ and the base64 of 24 to 64 bytes' }
})

const callbackUrl = sealedUrl('a callback', {})

const maxLength = 8_192

const argumentsField = z.record(z.string(), z.unknown()).superRefine((given, ctx) => {
  if (JSON.stringify(given).length <= maxLength) return
  refuse(ctx, given, { code: 'too_long', must: `have at most ${maxLength} characters as JSON` })
})

/** What identifies a subscription, beside the credential of the caller. */
const identity = {
  /** Who subscribes, at another MCP server. Without it the API key subscribes to the events of Belfry. */
  principal: textField(line(200)).optional(),
  /** The type of the events. */
  name: textField(topic),
  arguments: argumentsField.default(() => ({})),
  url: textField(callbackUrl),
}

/** The body that creates or renews a subscription of an MCP client. */
export const subscribeBody = z.strictObject({
  ...identity,
  secret: textField(secretRule),
  /** How long it is to last; null for ever. Default: a day. */
  ttl_ms: integer(1, Number.MAX_SAFE_INTEGER).nullable().optional(),
  /** With a principal: the topics of the events. Default: the name. */
  topic: textField(topicPattern).optional(),
  /** With a principal: conditions on the payload. Default: each argument equals the member of its name. */
  filter: filterField.optional(),
})

export type SubscribeBody = z.infer<typeof subscribeBody>

/** The body that ends a subscription of an MCP client. */
export const unsubscribeBody = z.strictObject(identity)

export type UnsubscribeBody = z.infer<typeof unsubscribeBody>
