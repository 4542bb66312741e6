import { roles } from '@belfry/domain/permissions'
import { tierNames } from '@belfry/domain/tiers'
import { z } from 'zod'
import { textField } from './fields.ts'
import { pageFields } from './page.ts'
import { idField, orNull, shownNumber, shownText, timestampField } from './response-fields.ts'
import { emailAddress, line } from './text-rules.ts'

/** The query of the organizations of an installation. `search`: a part of the name, the slug or the address of an owner.
 * `sort`: the organizations that use most come first, on one page. Default: the newest. */
export const listTenantsQuery = z.strictObject({
  search: textField(line(200)).optional(),
  suspended: z.enum(['true', 'false']).optional(),
  sort: z.enum(['in_flight', 'rate', 'executions', 'storage', 'failed_today', 'mails']).optional(),
  ...pageFields,
})

/** Why an operator suspends or resumes: stored in the operators' log, and never shown to the tenant. */
export const suspensionBody = z.strictObject({ reason: textField(line(500)).optional() })

/** The query of the blocked addresses. `search`: a part of the address. */
export const listBlockedAddressesQuery = z.strictObject({
  search: textField(line(200)).optional().meta({ description: 'A part of the address.' }),
  ...pageFields,
})

/** An address that gets no alerts and no invitations. The reason is stored in the operators' log. */
export const blockAddressBody = z.strictObject({
  email: textField(emailAddress),
  reason: textField(line(500)).optional(),
})

export const unblockAddressBody = z.strictObject({ email: textField(emailAddress) })

/** The host of targets, such as `hooks.example.com` or `hooks.example.com:8443`. */
export const findTargetsQuery = z.strictObject({
  host: textField(line(300)).meta({ description: 'The host of the targets, with its port where their URLs have one.' }),
})

const suspendedAt = () =>
  orNull(timestampField(), {
    description: 'When an operator suspended it; null when it is not suspended.',
    examples: [null],
  })

const email = () => z.string().meta({ format: 'email', examples: ['ada@example.com'] })

/** An organization as operators see it. */
export const tenant = z
  .object({
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
  .meta({ id: 'Tenant' })

export type Tenant = z.infer<typeof tenant>

/** An organization with its workspaces and members. */
export const tenantDetail = tenant
  .extend({
    workspace_list: z.array(
      z.object({
        id: idField('ws'),
        name: z.string().meta({ examples: ['Production'] }),
        suspended_at: suspendedAt(),
        in_flight: z.int().meta({ examples: [12] }),
        created_at: timestampField(),
      }),
    ),
    due_tasks: shownNumber(
      'Tasks that are due and not started, up to 10,000. Above a limit of its tier they are cancelled.',
      78,
    ),
    tier_limits: z
      .array(
        z.object({
          tier: z.enum(tierNames),
          executions: orNull(z.int(), {
            description: 'Tasks that may start in a month; null: no limit.',
            examples: [10_000],
          }),
          storage_bytes: orNull(z.int(), { description: 'Null: no limit.', examples: [100_000_000] }),
        }),
      )
      .meta({ description: 'The limits of the tiers that it could have.' }),
    member_list: z.array(
      z.object({
        user_id: idField('user'),
        email: email(),
        name: z.string().meta({ examples: ['Ada Lovelace'] }),
        role: z.enum(roles),
        has_second_factor: z.boolean(),
        suspended_at: suspendedAt(),
      }),
    ),
  })
  .meta({ id: 'TenantDetail' })

export type TenantDetail = z.infer<typeof tenantDetail>

/** The workspaces that call a host. */
export const foundTargets = z
  .object({
    data: z.array(
      z.object({
        workspace_id: idField('ws'),
        workspace_name: z.string().meta({ examples: ['Production'] }),
        organization_id: idField('org'),
        organization_name: z.string().meta({ examples: ['Acme'] }),
        tasks: shownNumber('Among the 100,000 newest tasks of the installation.', 120),
        cron_jobs: z.int().meta({ examples: [1] }),
        subscriptions: z.int().meta({ examples: [0] }),
      }),
    ),
  })
  .meta({ id: 'FoundTargets' })

export type FoundTargets = z.infer<typeof foundTargets>

/** An address that an operator has blocked. */
export const blockedAddress = z.object({ email: email(), blocked_at: timestampField() }).meta({ id: 'BlockedAddress' })

export type BlockedAddress = z.infer<typeof blockedAddress>

/** An action of an operator. */
export const operatorEntry = z
  .object({
    id: idField('aud'),
    operator: z.string().meta({ examples: ['root@example.com'] }),
    address: shownText('The IP address of the operator.', '192.0.2.7'),
    action: z.string().meta({ examples: ['organization.suspended'] }),
    object_id: z.string().meta({ examples: ['org_01jdc8z6wqf8vv5x2m9k3n7p4r'] }),
    details: z.record(z.string(), z.unknown()).meta({ examples: [{ reason: 'A flood of calls' }] }),
    created_at: timestampField(),
  })
  .meta({ id: 'OperatorEntry' })

export type OperatorEntry = z.infer<typeof operatorEntry>
