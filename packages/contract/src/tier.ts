import { figureNames, tierNames } from '@belfry/domain/tiers'
import { z } from 'zod'
import { listOf, namedObject } from './objects.ts'
import { operation } from './operation.ts'
import { numberOrNull, orNull, shownNumber, timeOrNull, timestampField } from './response-fields.ts'

const periodField = z
  .object({ start: timestampField().meta({ description: 'The first moment of the month.' }), end: timestampField() })
  .meta({ id: 'Period', description: 'A UTC calendar month; start is included, end is not.' })

const used = z.int().meta({ examples: [42] })

function share(limit: number) {
  return z.object({
    used,
    limit: numberOrNull('Null: no limit.', limit),
  })
}

export const usage = namedObject('Usage', {
  period: periodField,
  executions: share(10_000).meta({
    description: 'Tasks whose dispatch started in the period; retries do not count.',
  }),
  storage_bytes: share(100_000_000).meta({
    description: 'Stored payloads and captured responses; updated within seconds.',
  }),
  workspaces: z.object({ used, limit: z.int().meta({ examples: [2] }) }),
  daily: listOf({
    date: z.string().meta({ format: 'date', examples: ['2026-11-21'], description: 'The day, in UTC.' }),
    executions: z.int().meta({ examples: [42] }),
    failed: shownNumber('Tasks that became dead letters.', 1),
  }).meta({ description: 'The days of the period until today, in UTC.' }),
})

export type Usage = z.infer<typeof usage>

export const changeTierBody = z.strictObject({ tier: z.enum(tierNames) })

// The limits that cancel accepted tasks.
const cancelling = orNull(z.int(), { examples: [10_000] })

const figures = Object.values(figureNames)

const organizationSubscription = namedObject('OrganizationSubscription', {
  tier: z.enum(tierNames),
  limits: z
    .object(
      Object.fromEntries(figures.map(name => [name, z.int().meta({ examples: [100] })])) as Record<
        (typeof figures)[number],
        z.ZodInt
      >, // each of these names
    )
    .extend({ executions: cancelling, storage_bytes: cancelling })
    .meta({ id: 'TierLimits' }),
  period: periodField,
  available_tiers: z.array(z.enum(tierNames)).meta({ description: 'The tiers that the organization can choose.' }),
  billing: z
    .object({
      provider: z
        .enum(['manual', 'stripe'])
        .meta({ description: 'With `manual`, a chosen tier applies without payment.' }),
      status: z
        .enum(['none', 'active', 'payment_failed', 'canceled'])
        .meta({ description: 'The status of the paid subscription.', examples: ['none'] }),
      period_end: timeOrNull('The end of the paid period.', null),
      grace_until: timeOrNull('After a failed payment: when the tier ends.', null),
      next_tier: orNull(
        z.object({ tier: z.enum(tierNames), at: timestampField().meta({ description: 'When it takes effect.' }) }),
        {
          description: 'A chosen lower tier, and when it takes effect.',
          examples: [null],
        },
      ),
    })
    .meta({ id: 'Billing' }),
  checkout_url: z
    .url()
    .optional()
    .meta({
      description: 'Only after the choice of a paid tier: the URL of the payment page.',
      examples: ['https://pay.example.com/1'],
    }),
})

export type OrganizationSubscription = z.infer<typeof organizationSubscription>

const billingPortal = namedObject('BillingPortal', {
  url: z.url().meta({ examples: ['https://pay.example.com/portal'], description: 'The page of the payment provider.' }),
})

export const billingOperations = {
  getUsage: operation('GET', '/api/v1/organizations/:org/usage', {
    right: 'usage.read',
    summary: 'Get the usage of an organization',
    response: { status: 200, body: usage },
  }),

  getTier: operation('GET', '/api/v1/organizations/:org/subscription', {
    right: 'billing.read',
    summary: 'Get the tier of an organization, its limits and its billing',
    response: { status: 200, body: organizationSubscription },
  }),

  changeTier: operation('PUT', '/api/v1/organizations/:org/subscription', {
    right: 'billing.change',
    summary: 'Choose the tier of an organization',
    body: changeTierBody,
    response: { status: 200, body: organizationSubscription },
    errors: ['conflict', 'unavailable'],
  }),

  openPortal: operation('POST', '/api/v1/organizations/:org/subscription/portal', {
    right: 'billing.change',
    summary: "Open the payment provider's page for payment methods, invoices and cancellation",
    response: { status: 200, body: billingPortal },
    errors: ['conflict', 'unavailable'],
  }),
}
