import { toId } from '@belfry/domain/id'
import type { Action } from '@belfry/domain/permissions'
import { aTaskBody } from '../setup.ts'

/** The request to a route, and the special cases of its response. */
export type RouteRequest = {
  /** With the question mark. */
  query?: string
  body?: () => unknown
  /** The right that this request needs, if it is not the endpoint's own. */
  right?: Action
  /** The response to an allowed caller, if it is not the endpoint's own. */
  status?: number
  /** Another right that is enough to read some of the objects. */
  orRight?: Action
  /** The objects in the path, by parameter. Default: those with the names of the parameters. */
  objects?: Record<string, string>
}

const none: RouteRequest = {}
const aName: RouteRequest = { body: () => ({ name: 'A name' }) }
const aCronJob = { name: 'A cron job', cron: '0 4 1 1 *', url: 'https://example.com/hook', method: 'POST' }
export const anAssertion = {
  id: 'AA',
  rawId: 'AA',
  type: 'public-key',
  response: { clientDataJSON: 'e30', authenticatorData: 'AA', signature: 'AA' },
}
const anEvent = { topic: 'invoice.paid', payload: {}, target_url: 'https://example.com/hook' }
const aSubscription = { topic: 'invoice.*', url: 'https://example.com/hook' }
const aPassword = 'correct horse battery'
const aLogin = () => ({ email: `${crypto.randomUUID()}@example.com`, password: aPassword })
const anIntegration = { name: 'Alerts', channel: 'webhook', url: 'https://example.com/', events: ['task.dead'] }

const aFederatedCredential = {
  name: 'Deployments',
  issuer: 'https://token.actions.githubusercontent.com',
  conditions: { repository: 'acme/app' },
  scopes: ['publish'],
}

/** A valid request to every route. The rights of a route that is missing here would be untested. */
export const requests: Readonly<Record<string, RouteRequest>> = {
  'GET /api/v1/scheduler/tasks': none,
  'POST /api/v1/scheduler/tasks': { body: aTaskBody },
  'GET /api/v1/scheduler/tasks/:task': none,
  'PATCH /api/v1/scheduler/tasks/:task': aName,
  'DELETE /api/v1/scheduler/tasks/:task': none,
  'GET /api/v1/scheduler/dead-letters': none,
  'POST /api/v1/scheduler/tasks/batch': { body: () => ({ tasks: [aTaskBody()] }) },
  // It is still pending.
  'POST /api/v1/scheduler/tasks/:task/replay': { status: 409 },
  'GET /api/v1/scheduler/tasks/export': none,
  'GET /api/v1/scheduler/tasks/count': none,
  // It is pending and not retrying.
  'POST /api/v1/scheduler/tasks/:task/stop': { status: 409 },
  'POST /api/v1/scheduler/tasks/cancel': { body: () => ({ filter: { label: 'nothing' } }) },
  'POST /api/v1/scheduler/tasks/stop': { body: () => ({ filter: { label: 'nothing' } }) },
  'GET /api/v1/scheduler/tasks/operations/:operation': none,
  'DELETE /api/v1/scheduler/tasks/operations/:operation': none,
  'POST /api/v1/scheduler/dead-letters/replay': { body: () => ({ filter: {} }) },
  'POST /api/v1/scheduler/dead-letters/discard': { body: () => ({ filter: {} }) },
  'GET /api/v1/scheduler/dead-letters/operations/:operation': { objects: { operation: 'replay' } },
  'DELETE /api/v1/scheduler/dead-letters/operations/:operation': { objects: { operation: 'replay' } },
  'GET /api/v1/scheduler/bulk-operations': { orRight: 'dead_letter.read' },
  'POST /api/v1/scheduler/bulk-operations': { body: () => ({ action: 'cancel', filter: {} }) },
  'GET /api/v1/scheduler/bulk-operations/:operation': none,
  'POST /api/v1/scheduler/bulk-operations/:operation/cancel': none,
  'GET /api/v1/scheduler/cronjobs': none,
  'POST /api/v1/scheduler/cronjobs': { body: () => aCronJob },
  'POST /api/v1/scheduler/cronjobs/preview': { body: () => ({ cron: '0 4 1 1 *' }) },
  'GET /api/v1/scheduler/cronjobs/recent-runs': none,
  'GET /api/v1/scheduler/cronjobs/:cronjob': none,
  'PATCH /api/v1/scheduler/cronjobs/:cronjob': aName,
  'DELETE /api/v1/scheduler/cronjobs/:cronjob': none,
  'POST /api/v1/scheduler/cronjobs/:cronjob/pause': none,
  'POST /api/v1/scheduler/cronjobs/:cronjob/resume': none,
  'POST /api/v1/scheduler/cronjobs/:cronjob/trigger': none,
  'POST /api/v1/scheduler/cronjobs/:cronjob/backfill': {
    body: () => ({ from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }),
  },
  'GET /api/v1/scheduler/runs': none,
  'GET /api/v1/scheduler/runs/export': none,
  'GET /api/v1/scheduler/runs/stream': none,
  'GET /api/v1/scheduler/runs/:run': none,
  'GET /api/v1/scheduler/runs/failures': none,
  'PUT /api/v1/scheduler/runs/failures': {
    body: () => ({ host: 'example.com', error_code: 'timeout', response_status: null, state: 'ignored' }),
  },
  'GET /api/v1/scheduler/runs/counts': none,
  'GET /api/v1/scheduler/search': { query: '?q=task' },
  'GET /api/v1/scheduler/overview': none,
  'GET /api/v1/scheduler/upcoming': none,
  'GET /api/v1/scheduler/hosts': none,
  'GET /api/v1/scheduler/hosts/:host': none,
  'POST /api/v1/scheduler/hosts/:host/pause': none,
  'POST /api/v1/scheduler/hosts/:host/resume': none,
  'POST /api/v1/scheduler/hosts/:host/reset': none,
  'GET /api/v1/scheduler/queues': none,
  'GET /api/v1/scheduler/queues/:queue': none,
  'PUT /api/v1/scheduler/queues/:queue': { body: () => ({ max_concurrent: 1 }) },
  'PATCH /api/v1/scheduler/queues/:queue': { body: () => ({ ordered: true }) },
  'DELETE /api/v1/scheduler/queues/:queue': none,
  'POST /api/v1/scheduler/queues/:queue/pause': none,
  'POST /api/v1/scheduler/queues/:queue/resume': none,
  'GET /api/v1/scheduler/status': none,
  'GET /api/v1/scheduler/subscriptions': none,
  'POST /api/v1/scheduler/subscriptions': { body: () => aSubscription },
  'GET /api/v1/scheduler/subscriptions/:sub': none,
  'PATCH /api/v1/scheduler/subscriptions/:sub': { body: () => ({ active: false }) },
  'DELETE /api/v1/scheduler/subscriptions/:sub': none,
  'GET /api/v1/scheduler/subscriptions/:sub/signing-secrets': none,
  'POST /api/v1/scheduler/subscriptions/:sub/signing-secrets': none,
  'DELETE /api/v1/scheduler/subscriptions/:sub/signing-secrets': none,
  // It is a secret of the workspace.
  'DELETE /api/v1/scheduler/subscriptions/:sub/signing-secrets/:secret': { status: 404 },
  'POST /api/events': { body: () => anEvent },
  'POST /api/v1/auth/register': { body: () => ({ ...aLogin(), name: 'A user' }) },
  'POST /api/v1/auth/login': { body: aLogin, status: 401 },
  // No sign-in waits, and no passkey answers.
  'POST /api/v1/auth/login/factor': { body: () => ({ sign_in_token: 'x', code: '123456' }), status: 401 },
  'POST /api/v1/auth/login/passkey': { body: () => ({ passkey: anAssertion }), status: 401 },
  'POST /api/v1/auth/login/passkey/options': { body: () => ({}) },
  'POST /api/v1/auth/logout': none,
  // The password is wrong.
  'POST /api/v1/auth/confirm': { body: () => ({ password: 'wrong' }), status: 400 },
  'POST /api/v1/auth/confirm/options': none,
  'GET /api/v1/auth/factors': none,
  'POST /api/v1/auth/factors/passkeys': {
    body: () => ({
      name: 'A',
      passkey: { ...anAssertion, response: { clientDataJSON: 'e30', attestationObject: 'AA' } },
    }),
    status: 400,
  },
  'POST /api/v1/auth/factors/passkeys/options': none,
  // Of another user.
  'DELETE /api/v1/auth/factors/passkeys/:passkey': { status: 404 },
  'POST /api/v1/auth/factors/totp': none,
  // The user has none.
  'DELETE /api/v1/auth/factors/totp': { status: 404 },
  'POST /api/v1/auth/factors/totp/confirm': { body: () => ({ code: '123456' }), status: 400 },
  'POST /api/v1/auth/factors/recovery-codes': { status: 409 },
  'POST /api/v1/auth/oidc/logout': none,
  // The credential is unknown.
  'POST /api/v1/auth/token-exchange': {
    body: () => ({ federated_credential_id: toId('fed', crypto.randomUUID()), token: 'x.y.z' }),
    status: 401,
  },
  'GET /api/v1/auth/methods': none,
  // There is no issuer.
  'POST /api/v1/auth/oidc/start': { body: () => ({ return_to: '/' }), status: 404 },
  'GET /api/v1/auth/oidc/callback': { status: 404 },
  'GET /api/v1/auth/register': none,
  // The token is unknown.
  'POST /api/v1/integrations/confirm': { body: () => ({ token: 'x' }), status: 400 },
  'POST /api/v1/integrations/unsubscribe': { query: '?token=x', status: 400 },
  'POST /api/v1/auth/email/confirm': { body: () => ({ token: 'x' }), status: 400 },
  'POST /api/v1/auth/email/resend': none,
  'POST /api/v1/auth/password/forgot': { body: () => ({ email: aLogin().email }) },
  'POST /api/v1/auth/password/reset': { body: () => ({ password: aPassword, token: 'unknown' }), status: 400 },
  'GET /api/v1/auth/log': none,
  'GET /api/v1/auth/sessions': none,
  'DELETE /api/v1/auth/sessions': none,
  // Of another user.
  'DELETE /api/v1/auth/sessions/:session': { status: 404 },
  'GET /api/v1/auth/me': none,
  'PATCH /api/v1/auth/me': aName,
  'GET /api/v1/auth/me/export': none,
  // Without the password.
  'POST /api/v1/auth/me/delete': { body: () => ({ current_password: '' }), status: 400 },
  'GET /api/v1/organizations': none,
  'POST /api/v1/organizations': aName,
  'GET /api/v1/organizations/:org': none,
  'PATCH /api/v1/organizations/:org': aName,
  // It has a workspace.
  'DELETE /api/v1/organizations/:org': { status: 409 },
  'GET /api/v1/organizations/:org/members': none,
  'PATCH /api/v1/organizations/:org/members/:user': { body: () => ({ role: 'admin' }) },
  // Removes another member: every member may leave.
  'DELETE /api/v1/organizations/:org/members/:user': { right: 'member.manage' },
  // No member has this id.
  'POST /api/v1/organizations/:org/transfer': {
    body: () => ({ user_id: toId('user', crypto.randomUUID()) }),
    status: 404,
  },
  'GET /api/v1/organizations/:org/invitations': none,
  'POST /api/v1/organizations/:org/invitations': { body: () => ({ email: aLogin().email, role: 'member' }) },
  'DELETE /api/v1/organizations/:org/invitations/:inv': none,
  'POST /api/v1/organizations/:org/invitations/:inv/resend': none,
  // The token is unknown.
  'POST /api/v1/invitations/preview': { body: () => ({ token: 'x' }), status: 404 },
  'POST /api/v1/invitations/accept': { body: () => ({ token: 'x' }), status: 404 },
  'GET /api/v1/invitations/:token': none,
  'POST /api/v1/invitations/:token/accept': { body: () => ({ name: 'A user', password: aPassword }) },
  'GET /api/v1/organizations/:org/audit-log': none,
  'GET /api/v1/organizations/:org/audit-log/export': none,
  'GET /api/v1/organizations/:org/audit-stream': none,
  'PUT /api/v1/organizations/:org/audit-stream': { body: () => ({ url: 'https://example.com/audit' }) },
  'DELETE /api/v1/organizations/:org/audit-stream': none,
  // There is no stream.
  'POST /api/v1/organizations/:org/audit-stream/rotate': { status: 404 },
  'GET /api/v1/organizations/:org/runs': none,
  'GET /api/v1/organizations/:org/runs/export': none,
  'GET /api/v1/organizations/:org/runs/stream': none,
  'GET /api/v1/organizations/:org/usage': none,
  'GET /api/v1/organizations/:org/subscription': none,
  'PUT /api/v1/organizations/:org/subscription': { body: () => ({ tier: 'startup' }) },
  // Without a payment provider there is no portal.
  'POST /api/v1/organizations/:org/subscription/portal': { status: 409 },
  'GET /api/v1/organizations/:org/workspaces': none,
  'POST /api/v1/organizations/:org/workspaces': aName,
  'GET /api/v1/workspaces/:ws': none,
  'PATCH /api/v1/workspaces/:ws': aName,
  'DELETE /api/v1/workspaces/:ws': none,
  'GET /api/v1/workspaces/:ws/members': none,
  'PUT /api/v1/workspaces/:ws/members/:user': { body: () => ({ role: 'editor' }) },
  'DELETE /api/v1/workspaces/:ws/members/:user': none,
  'GET /api/v1/workspaces/:ws/api-keys': none,
  'POST /api/v1/workspaces/:ws/api-keys': aName,
  'DELETE /api/v1/workspaces/:ws/api-keys/:key': none,
  'POST /api/v1/workspaces/:ws/api-keys/:key/roll': { body: () => ({}) },
  'GET /api/v1/workspaces/:ws/federated-credentials': none,
  'POST /api/v1/workspaces/:ws/federated-credentials': { body: () => aFederatedCredential },
  'GET /api/v1/workspaces/:ws/federated-credentials/:fed': none,
  'DELETE /api/v1/workspaces/:ws/federated-credentials/:fed': none,
  'GET /api/v1/workspaces/:ws/secrets': none,
  'PUT /api/v1/workspaces/:ws/secrets/:name': { body: () => ({ value: 'a value' }) },
  'DELETE /api/v1/workspaces/:ws/secrets/:name': none,
  'GET /api/v1/workspaces/:ws/connections': none,
  'GET /api/v1/workspaces/:ws/connections/:connection': none,
  'PUT /api/v1/workspaces/:ws/connections/:connection': {
    body: () => ({ kind: 'header', hosts: ['example.com'], value: 'a value' }),
  },
  'DELETE /api/v1/workspaces/:ws/connections/:connection': none,
  // Refused after the check of rights: there is no token to request, and no URL.
  'POST /api/v1/workspaces/:ws/connections/:connection/test': { body: () => ({}), status: 400 },
  'GET /api/v1/workspaces/:ws/signing-keys': none,
  'GET /api/v1/workspaces/:ws/signing-secrets': none,
  'POST /api/v1/workspaces/:ws/signing-secrets': none,
  'DELETE /api/v1/workspaces/:ws/signing-secrets/:secret': none,
  'GET /api/v1/workspaces/:ws/integrations': none,
  'POST /api/v1/workspaces/:ws/integrations': { body: () => anIntegration },
  'GET /api/v1/workspaces/:ws/integrations/:int': none,
  'PATCH /api/v1/workspaces/:ws/integrations/:int': aName,
  'DELETE /api/v1/workspaces/:ws/integrations/:int': none,
  'POST /api/v1/workspaces/:ws/integrations/:int/test': none,
  'GET /api/v1/operator/organizations': none,
  'GET /api/v1/operator/organizations/:org': none,
  'PUT /api/v1/operator/organizations/:org/tier': { body: () => ({ tier: 'free' }) },
  'POST /api/v1/operator/organizations/:org/suspend': { body: () => ({}) },
  'POST /api/v1/operator/organizations/:org/resume': { body: () => ({}) },
  'POST /api/v1/operator/workspaces/:ws/suspend': { body: () => ({}) },
  'POST /api/v1/operator/workspaces/:ws/resume': { body: () => ({}) },
  'POST /api/v1/operator/users/:user/suspend': { body: () => ({}) },
  'POST /api/v1/operator/users/:user/resume': { body: () => ({}) },
  'POST /api/v1/operator/users/:user/factors/reset': { body: () => ({}) },
  'GET /api/v1/operator/targets': none,
  'GET /api/v1/operator/blocked-addresses': none,
  'POST /api/v1/operator/blocked-addresses': { body: () => ({ email: 'a@example.com' }) },
  'POST /api/v1/operator/blocked-addresses/remove': { body: () => ({ email: 'a@example.com' }) },
  'GET /api/v1/operator/log': none,
  'GET /.well-known/jwks.json': none,
  'GET /.well-known/openid-configuration': none,
  'GET /api/problems/:code': none,
  'GET /api/openapi.json': none,
  'GET /api/docs': none,
}
