import { alertChannels, alertEvents } from '@belfry/domain/alerts'
import { z } from 'zod'
import { linkToken, textField } from './fields.ts'
import { namedObject } from './objects.ts'
import { operation } from './operation.ts'
import { pageOf } from './page.ts'
import { idField, shownFlag, shownText, textOrNull, timestampField } from './response-fields.ts'
import { objectKeyField, shownKeyField } from './task-controls.ts'
import { displayName, emailAddress, sealedUrl } from './text-rules.ts'

const alertUrl = sealedUrl('an integration', {
  pattern: '^[Hh][Tt][Tt][Pp][Ss]?://[^/\\\\#][^\\\\#]*$',
  description: 'An absolute http or https URL without user, password or fragment; never returned.',
})

const events = z.array(z.enum(alertEvents)).min(1).meta({ description: 'What it reports: at least one event.' })

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
const updateIntegrationBody = z
  .strictObject({
    key: objectKeyField.nullable().optional(),
    name: textField(displayName).optional(),
    events: events.optional(),
    url: textField(alertUrl).optional(),
    email: textField(emailAddress).optional(),
  })
  .meta({ examples: [{ name: 'On call', events: ['task.dead'] }] })

export const integration = namedObject('Integration', {
  id: idField('int'),
  workspace_id: idField('ws'),
  key: shownKeyField,
  name: z.string().meta({ examples: ['On call'] }),
  channel: z.enum(alertChannels),
  events: z.array(z.enum(alertEvents)).meta({ description: 'What it reports.' }),
  target: shownText('The host of the URL, which itself is never returned, or the email address.', 'hooks.slack.com'),
  confirmed: shownFlag(
    'Whether alerts are sent: the recipient of an email address outside of the organization agrees first.',
  ),
  created_at: timestampField(),
  updated_at: timestampField(),
})

/** A destination for the alerts of a workspace. */
export type Integration = z.infer<typeof integration>

const integrationTest = namedObject('IntegrationTest', {
  delivered: z.boolean().meta({ description: 'Whether the test message arrived.' }),
  error: textOrNull('Why the test failed; null when it succeeded.', 'The receiver answered 404.'),
})

export const integrationsOperations = {
  confirmAlerts: operation('POST', '/api/v1/integrations/confirm', {
    right: 'public',
    summary: 'Agree to get alerts at an email address, with the token of a link',
    body: z.strictObject({ token: linkToken }),
    errors: ['rate_limited'],
  }),

  unsubscribe: operation('POST', '/api/v1/integrations/unsubscribe', {
    right: 'public',
    summary: 'End all alerts to an email address, with the token of a mail',
    query: z.strictObject({ token: linkToken }),
  }),

  listIntegrations: operation('GET', '/api/v1/workspaces/:ws/integrations', {
    right: 'integration.read',
    summary: 'List the integrations of a workspace',
    response: { status: 200, body: pageOf(integration) },
  }),

  createIntegration: operation('POST', '/api/v1/workspaces/:ws/integrations', {
    right: 'integration.write',
    summary: 'Send alerts of a workspace to Slack, Discord, an email address or a webhook',
    body: createIntegrationBody,
    response: { status: 201, body: integration },
    errors: ['conflict', 'key_in_use', 'rate_limited'],
  }),

  getIntegration: operation('GET', '/api/v1/workspaces/:ws/integrations/:int', {
    right: 'integration.read',
    summary: 'Read an integration',
    response: { status: 200, body: integration },
  }),

  updateIntegration: operation('PATCH', '/api/v1/workspaces/:ws/integrations/:int', {
    right: 'integration.write',
    summary: 'Change the name, the events or the target of an integration',
    body: updateIntegrationBody,
    response: { status: 200, body: integration },
    errors: ['conflict', 'key_in_use', 'rate_limited'],
  }),

  deleteIntegration: operation('DELETE', '/api/v1/workspaces/:ws/integrations/:int', {
    right: 'integration.delete',
    summary: 'Delete an integration; alerts that wait to be sent are dropped',
  }),

  testIntegration: operation('POST', '/api/v1/workspaces/:ws/integrations/:int/test', {
    right: 'integration.write',
    summary: 'Send a test message, and report within ten seconds whether it arrived',
    response: { status: 200, body: integrationTest },
    errors: ['conflict', 'rate_limited'],
  }),
}
