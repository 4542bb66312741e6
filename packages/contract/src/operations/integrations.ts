import {
  confirmAlertsBody,
  createIntegrationBody,
  integration,
  integrationTest,
  unsubscribeQuery,
  updateIntegrationBody,
} from '../integration.ts'
import { operation } from '../operation.ts'
import { pageOf } from '../page.ts'

export const integrationsOperations = {
  confirmAlerts: operation('POST', '/api/v1/integrations/confirm', {
    right: 'public',
    summary: 'Agree to get alerts at an email address, with the token of a link',
    body: confirmAlertsBody,
    answer: { status: 204 },
    refusals: ['rate_limited'],
  }),

  unsubscribe: operation('POST', '/api/v1/integrations/unsubscribe', {
    right: 'public',
    summary: 'End all alerts to an email address, with the token of a mail',
    query: unsubscribeQuery,
    answer: { status: 204 },
  }),

  listIntegrations: operation('GET', '/api/v1/workspaces/:ws/integrations', {
    right: 'integration.read',
    summary: 'List the integrations of a workspace',
    answer: { status: 200, body: pageOf(integration) },
  }),

  createIntegration: operation('POST', '/api/v1/workspaces/:ws/integrations', {
    right: 'integration.write',
    summary: 'Send alerts of a workspace to Slack, Discord, an email address or a webhook',
    body: createIntegrationBody,
    answer: { status: 201, body: integration },
    refusals: ['conflict', 'key_in_use', 'rate_limited'],
  }),

  getIntegration: operation('GET', '/api/v1/workspaces/:ws/integrations/:int', {
    right: 'integration.read',
    summary: 'Read an integration',
    answer: { status: 200, body: integration },
  }),

  updateIntegration: operation('PATCH', '/api/v1/workspaces/:ws/integrations/:int', {
    right: 'integration.write',
    summary: 'Change the name, the events or the target of an integration',
    body: updateIntegrationBody,
    answer: { status: 200, body: integration },
    refusals: ['conflict', 'key_in_use', 'rate_limited'],
  }),

  deleteIntegration: operation('DELETE', '/api/v1/workspaces/:ws/integrations/:int', {
    right: 'integration.delete',
    summary: 'Delete an integration; alerts that wait to be sent are dropped',
    answer: { status: 204 },
  }),

  testIntegration: operation('POST', '/api/v1/workspaces/:ws/integrations/:int/test', {
    right: 'integration.write',
    summary: 'Send a test message, and report within ten seconds whether it arrived',
    answer: { status: 200, body: integrationTest },
    refusals: ['conflict', 'rate_limited'],
  }),
}
