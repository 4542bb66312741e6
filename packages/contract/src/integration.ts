import { alertChannels, alertEvents, secretNames } from '@belfry/domain'
import { z } from 'zod'
import { idField, timestampField } from './answer-fields.ts'
import { textField } from './fields.ts'
import { displayName, emailAddress, targetUrl, textRule } from './text-rules.ts'

// It is kept like a secret itself, and sent to as it is.
const alertUrl = textRule(
  {
    ...targetUrl.schema,
    pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/\\\\#][^\\\\#]*$',
    description: 'An absolute http or https URL without user, password or fragment; it never comes back.',
  },
  text => {
    const message = 'The URL of an integration is kept secret itself: write it out, without {{ secrets.NAME }}.'
    return secretNames(text).length > 0 ? { code: 'invalid_url', message } : targetUrl(text)
  },
)

const events = z.array(z.enum(alertEvents)).min(1)

const common = { name: textField(displayName), events }
const byUrl = { ...common, url: textField(alertUrl) }

/** Slack, Discord and webhooks take a `url`, e-mail takes an `email`. */
export const createIntegrationBody = z.discriminatedUnion('channel', [
  z.strictObject({ channel: z.literal('slack'), ...byUrl }),
  z.strictObject({ channel: z.literal('discord'), ...byUrl }),
  z.strictObject({ channel: z.literal('webhook'), ...byUrl }),
  z.strictObject({ channel: z.literal('email'), ...common, email: textField(emailAddress) }),
])

export type CreateIntegrationBody = z.infer<typeof createIntegrationBody>

/** An absent field stays. The channel does not change. */
export const updateIntegrationBody = z
  .strictObject({
    name: textField(displayName).optional(),
    events: events.optional(),
    url: textField(alertUrl).optional(),
    email: textField(emailAddress).optional(),
  })
  .meta({ examples: [{ name: 'On call', events: ['task.dead'] }] })

export type UpdateIntegrationBody = z.infer<typeof updateIntegrationBody>

export const integration = z
  .object({
    id: idField('int'),
    workspace_id: idField('ws'),
    name: z.string().meta({ examples: ['On call'] }),
    channel: z.enum(alertChannels),
    events: z.array(z.enum(alertEvents)),
    target: z.string().meta({
      description: 'The host of the URL, which is a secret and never comes back, or the e-mail address.',
      examples: ['hooks.slack.com'],
    }),
    created_at: timestampField(),
    updated_at: timestampField(),
  })
  .meta({ id: 'Integration' })

/** Where the alerts of a workspace go. */
export type Integration = z.infer<typeof integration>

/** What came of a test. */
export const integrationTest = z
  .object({
    delivered: z.boolean(),
    error: z
      .string()
      .nullable()
      .meta({ description: 'Why it did not arrive; null when it did.', examples: ['The receiver answered 404.'] }),
  })
  .meta({ id: 'IntegrationTest' })

export type IntegrationTest = z.infer<typeof integrationTest>
