import { roles } from '@belfry/domain/permissions'
import { tierNames } from '@belfry/domain/tiers'
import { z } from 'zod'
import { textField } from './fields.ts'
import { listOf, namedObject } from './objects.ts'
import { operation } from './operation.ts'
import { listQuery, pageFields, pageOf } from './page.ts'
import { idField, numberOrNull, orNull, shownNumber, shownText, timeOrNull, timestampField } from './response-fields.ts'
import { emailAddress, line } from './text-rules.ts'
import { changeTierBody } from './tier.ts'

/** Why an operator suspends or resumes: stored in the operators' log, and never shown to the tenant. */
export const suspensionBody = z.strictObject({ reason: textField(line(500)).optional() })

const suspendedAt = () => timeOrNull('When an operator suspended it; null when it is not suspended.', null)

const email = () => z.string().meta({ format: 'email', examples: ['ada@example.com'] })

/** An organization as operators see it. */
const tenant = namedObject('Tenant', {
  id: idField('org'),
  name: z.string().meta({ examples: ['Acme'] }),
  slug: z.string().meta({ examples: ['acme'] }),
  tier: z.enum(tierNames),
  account: orNull(z.object({ user_id: idField('user'), email: email(), suspended_at: suspendedAt() }), {
    description: 'The user who has owned it for the longest time. Slots are shared by account.',
  }),
  suspended_at: suspendedAt(),
  workspaces: shownNumber('The number of workspaces.', 2),
  in_flight: shownNumber('Attempts that hold a slot now.', 12),
  runs_per_minute: z.number().meta({ description: 'The mean of the last five whole minutes.', examples: [120.4] }),
  executions: shownNumber('In this month.', 40_000),
  storage_bytes: z.int().meta({ examples: [1_048_576] }),
  failed_today: shownNumber('Tasks that have died since midnight UTC.', 3),
  mails: shownNumber('Invitations, alerts and notices by mail in the last 24 hours.', 7),
  created_at: timestampField(),
})

export type Tenant = z.infer<typeof tenant>

const tenantDetail = tenant
  .extend({
    workspace_list: listOf({
      id: idField('ws'),
      name: z.string().meta({ examples: ['Production'] }),
      suspended_at: suspendedAt(),
      in_flight: z.int().meta({ examples: [12] }),
      created_at: timestampField(),
    }),
    due_tasks: shownNumber(
      'Tasks that are due and not started, up to 10,000. Above a limit of its tier they are cancelled.',
      78,
    ),
    tier_limits: listOf({
      tier: z.enum(tierNames),
      executions: numberOrNull('Tasks that may start in a month; null: no limit.', 10_000),
      storage_bytes: numberOrNull('Null: no limit.', 100_000_000),
    }).meta({ description: 'The limits of the tiers that it could have.' }),
    member_list: listOf({
      user_id: idField('user'),
      email: email(),
      name: z.string().meta({ examples: ['Ada Lovelace'] }),
      role: z.enum(roles),
      has_second_factor: z.boolean().meta({ description: 'Whether the user has a second factor.' }),
      suspended_at: suspendedAt(),
    }),
  })
  .meta({ id: 'TenantDetail' })

export type TenantDetail = z.infer<typeof tenantDetail>

/** The workspaces that call a host. */
const foundTargets = namedObject('FoundTargets', {
  data: listOf({
    workspace_id: idField('ws'),
    workspace_name: z.string().meta({ examples: ['Production'], description: 'The name of the workspace.' }),
    organization_id: idField('org'),
    organization_name: z.string().meta({ examples: ['Acme'], description: 'The name of the organization.' }),
    tasks: shownNumber('Among the 100,000 newest tasks of the installation.', 120),
    cron_jobs: z.int().meta({ examples: [1] }),
    subscriptions: z.int().meta({ examples: [0] }),
  }),
})

const blockedAddress = namedObject('BlockedAddress', {
  email: email(),
  blocked_at: timestampField().meta({ description: 'When an operator blocked it.' }),
})

const operatorEntry = namedObject('OperatorEntry', {
  id: idField('aud'),
  operator: z.string().meta({ examples: ['root@example.com'], description: 'The email address of the operator.' }),
  address: shownText('The IP address of the operator.', '192.0.2.7'),
  action: z.string().meta({ examples: ['organization.suspended'] }),
  object_id: z.string().meta({ examples: ['org_01jdc8z6wqf8vv5x2m9k3n7p4r'] }),
  details: z.record(z.string(), z.unknown()).meta({ examples: [{ reason: 'A flood of calls' }] }),
  created_at: timestampField(),
})

function decision<const P extends string>(path: P, summary: string) {
  return operation('POST', path, { right: 'operator', summary, body: suspensionBody, errors: ['step_up_required'] })
}

function suspension<const P extends string>(path: P, what: string) {
  return decision(path, `Suspend ${what}: its callers are refused and its tasks wait, and nothing is deleted`)
}

function resumption<const P extends string>(path: P, what: string) {
  return decision(path, `Resume a suspended ${what}; its waiting tasks start`)
}

export const operatorOperations = {
  listTenants: operation('GET', '/api/v1/operator/organizations', {
    right: 'operator',
    summary: 'List the organizations of the installation, newest first or by what they use',
    query: z.strictObject({
      search: textField(line(200)).optional(),
      suspended: z.enum(['true', 'false']).optional(),
      sort: z.enum(['in_flight', 'rate', 'executions', 'storage', 'failed_today', 'mails']).optional(),
      ...pageFields,
    }),
    response: { status: 200, body: pageOf(tenant) },
  }),

  getTenant: operation('GET', '/api/v1/operator/organizations/:org', {
    right: 'operator',
    summary: 'Read an organization with its workspaces and members',
    response: { status: 200, body: tenantDetail },
  }),

  setTier: operation('PUT', '/api/v1/operator/organizations/:org/tier', {
    right: 'operator',
    summary: 'Set the tier of an organization',
    body: changeTierBody,
    errors: ['step_up_required'],
  }),

  suspendOrganization: suspension('/api/v1/operator/organizations/:org/suspend', 'an organization'),
  resumeOrganization: resumption('/api/v1/operator/organizations/:org/resume', 'organization'),
  suspendWorkspace: suspension('/api/v1/operator/workspaces/:ws/suspend', 'a workspace'),
  resumeWorkspace: resumption('/api/v1/operator/workspaces/:ws/resume', 'workspace'),
  suspendUser: suspension('/api/v1/operator/users/:user/suspend', 'a user'),
  resumeUser: resumption('/api/v1/operator/users/:user/resume', 'user'),

  resetFactors: decision(
    '/api/v1/operator/users/:user/factors/reset',
    'Remove all second factors of a user who has lost them, and end the sessions of the user',
  ),

  findTargets: operation('GET', '/api/v1/operator/targets', {
    right: 'operator',
    summary: 'Find the workspaces that call a host',
    query: z.strictObject({
      host: textField(line(300)).meta({
        description: 'The host of the targets, with its port where their URLs have one.',
      }),
    }),
    response: { status: 200, body: foundTargets },
  }),

  listBlockedAddresses: operation('GET', '/api/v1/operator/blocked-addresses', {
    right: 'operator',
    summary: 'List the email addresses that operators have blocked, newest first',
    query: z.strictObject({
      search: textField(line(200)).optional().meta({ description: 'A part of the address.' }),
      ...pageFields,
    }),
    response: { status: 200, body: pageOf(blockedAddress) },
  }),

  blockAddress: operation('POST', '/api/v1/operator/blocked-addresses', {
    right: 'operator',
    summary: 'Send no alerts and no invitations to an email address',
    body: z.strictObject({
      email: textField(emailAddress),
      reason: textField(line(500)).optional(),
    }),
  }),

  unblockAddress: operation('POST', '/api/v1/operator/blocked-addresses/remove', {
    right: 'operator',
    summary: 'End the block of an email address; a recipient who has unsubscribed still gets no alerts',
    body: z.strictObject({ email: textField(emailAddress) }),
  }),

  listOperatorLog: operation('GET', '/api/v1/operator/log', {
    right: 'operator',
    summary: 'List the actions of operators, newest first',
    query: listQuery,
    response: { status: 200, body: pageOf(operatorEntry) },
  }),
}
