import { z } from 'zod'
import { textField } from './fields.ts'
import { listOf, namedObject } from './objects.ts'
import { shownNumber, textOrNull, timestampField } from './response-fields.ts'
import { sealedUrl } from './text-rules.ts'

const streamUrl = sealedUrl('an audit stream', {
  pattern: '^[Hh][Tt][Tt][Pp][Ss]://[^/\\\\#][^\\\\#]*$',
  description: 'An absolute https URL without user, password or fragment; never returned.',
})

export const putAuditStreamBody = z.strictObject({ url: textField(streamUrl) }).meta({
  examples: [{ url: 'https://logs.example.com/belfry' }],
})

/** The webhook that receives the new audit entries of an organization. */
export const auditStream = namedObject('AuditStream', {
  target: textOrNull(
    'The host of the URL, which itself is never returned; null while there is no stream.',
    'logs.example.com',
  ),
  signing_secrets: listOf({
    secret: z.string().meta({ examples: ['whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'] }),
    expires_at: timestampField().nullable(),
  }).meta({ description: 'The current secret, and the previous one while it also signs.' }),
  waiting: shownNumber('How many entries were not received yet, counted up to 10,001.', 0),
  last_error: textOrNull(
    'Why the latest message was not received; null when it was, or when none was sent.',
    'The receiver answered 503.',
  ),
  updated_at: timestampField().nullable(),
})

export type AuditStream = z.infer<typeof auditStream>
