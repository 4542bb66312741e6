import { alertChannels, alertEvents } from '@belfry/domain/alerts'
import { z } from 'zod'
import { textField } from './fields.ts'
import { idField, shownText, textOrNull, timestampField } from './response-fields.ts'
import { objectKeyField, shownKeyField } from './task-controls.ts'
import { displayName, emailAddress, sealedUrl } from './text-rules.ts'

const alertUrl = sealedUrl('an integration', {
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/\\\\#][^\\\\#]*$',
  description: 'An absolute http or https URL without user, password or fragment; never returned.',
})

const events = z.array(z.enum(alertEvents)).min(1)

const common = { key: objectKeyField.optional(), name: textField(displayName), events }
const byUrl = { ...common, url: textField(alertUrl) }

/** Slack, Discord and webhooks require a `url`, email an `email`. */
export const createIntegrationBody = z.discriminatedUnion('channel', [
  z.strictObject({ channel: z.literal('slack'), ...byUrl }),
  z.strictObject({ channel: z.literal('discord'), ...byUrl }),
  z.strictObject({ channel: z.literal('webhook'), ...byUrl }),
  z.strictObject({ channel: z.literal('email'), ...common, email: textField(emailAddress) }),
])

export type CreateIntegrationBody = z.infer<typeof createIntegrationBody>

/** Omitted fields stay unchanged. The channel cannot change. */
export const updateIntegrationBody = z
  .strictObject({
    key: objectKeyField.nullable().optional(),
    name: textField(displayName).optional(),
    events: events.optional(),
    url: textField(alertUrl).optional(),
    email: textField(emailAddress).optional(),
  })
  .meta({ examples: [{ name: 'On call', events: ['task.dead'] }] })

export const integration = z
  .object({
    id: idField('int'),
    workspace_id: idField('ws'),
    key: shownKeyField,
    name: z.string().meta({ examples: ['On call'] }),
    channel: z.enum(alertChannels),
    events: z.array(z.enum(alertEvents)),
    target: shownText('The host of the URL, which itself is never returned, or the email address.', 'hooks.slack.com'),
    confirmed: z.boolean().meta({
      description:
        'Whether alerts are sent: the recipient of an email address outside of the organization agrees first.',
    }),
    created_at: timestampField(),
    updated_at: timestampField(),
  })
  .meta({ id: 'Integration' })

/** A destination for the alerts of a workspace. */
export type Integration = z.infer<typeof integration>

export const confirmAlertsBody = z.strictObject({
  token: z.string().min(1).max(200).meta({ description: 'The token in the link of the mail.' }),
})

/** The token in a mail that ends its alerts. */
export const unsubscribeQuery = z.strictObject({
  token: z.string().min(1).max(200).meta({ description: 'The token in the link of the mail.' }),
})

/** The result of a test. */
export const integrationTest = z
  .object({
    delivered: z.boolean(),
    error: textOrNull('Why the test failed; null when it succeeded.', 'The receiver answered 404.'),
  })
  .meta({ id: 'IntegrationTest' })

export type IntegrationTest = z.infer<typeof integrationTest>
