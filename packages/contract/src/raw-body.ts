import type { z } from 'zod'
import { refuse, textField } from './fields.ts'
import { textOrNull } from './response-fields.ts'
import { type Invalid, matching, textRule } from './text-rules.ts'

const base64 = textRule(
  {
    pattern: '^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$',
    description:
      'A body of any type in base64 with padding, sent as these bytes. Secrets are not filled in. Instead of `payload`.',
    examples: ['PHhtbC8+'],
  },
  text => {
    const isBase64 = text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text)
    return isBase64 ? { value: text } : ({ code: 'invalid_base64', must: 'be base64 with padding' } satisfies Invalid)
  },
)

const token = "[!#$%&'*+.^_`|~0-9A-Za-z-]+"

const mediaType = matching(
  {
    maxLength: 255,
    pattern: `^${token}/${token}( *;[ -~]*)?$`,
    description:
      'The content type of `payload_base64`. Default: the `Content-Type` header, or application/octet-stream.',
    examples: ['application/xml'],
  },
  'invalid_value',
  'be a media type such as application/xml',
)

/** The content type of a raw body without one. A header overrides it when the request is sent. */
export const defaultContentType = 'application/octet-stream'

export const rawBodyFields = {
  payload_base64: textField(base64).optional(),
  content_type: textField(mediaType).optional(),
}

export const shownRawBody = {
  payload_base64: textOrNull('The body in base64, when it was given so; `payload` is then null.'),
  content_type: textOrNull('The content type of `payload_base64`.'),
}

type Bodies = { payload?: unknown; payload_base64?: unknown; content_type?: unknown; headers?: unknown }

/** Refuses a request with two bodies or two content types, and a content type without a raw body. */
export function refuseTwoBodies(
  { payload, payload_base64, content_type, headers }: Bodies,
  ctx: z.RefinementCtx,
): void {
  if (payload !== undefined && payload_base64 !== undefined) {
    refuse(ctx, payload_base64, { code: 'conflicting_fields', must: 'not be combined with payload' }, [
      'payload_base64',
    ])
  }
  if (content_type === undefined) return
  const names = Object.keys(Object(headers))
  if (payload_base64 === undefined) {
    const must = 'come with payload_base64. The content type of a payload is a header'
    refuse(ctx, content_type, { code: 'conflicting_fields', must }, ['content_type'])
  } else if (names.some(name => name.toLowerCase() === 'content-type')) {
    const must = 'not be combined with a Content-Type header'
    refuse(ctx, content_type, { code: 'conflicting_fields', must }, ['content_type'])
  }
}

/** The JSON Schema of what `refuseTwoBodies` checks. */
export const oneBody = {
  not: { required: ['payload', 'payload_base64'] },
  dependentRequired: { content_type: ['payload_base64'] },
}
