import { figureNames, tierNames } from '@belfry/domain'
import { z } from 'zod'
import { timestampField } from './answer-fields.ts'
import { periodField } from './usage.ts'

export const changeTierBody = z.strictObject({ tier: z.enum(tierNames) })

export type ChangeTierBody = z.infer<typeof changeTierBody>

const figures = Object.values(figureNames)

/** What an organization pays for, and what that allows. */
export const organizationSubscription = z
  .object({
    tier: z.enum(tierNames),
    limits: z
      .object(
        Object.fromEntries(figures.map(name => [name, z.int().meta({ examples: [100] })])) as Record<
          (typeof figures)[number],
          z.ZodInt
        >, // each of these names
      )
      .meta({ id: 'TierLimits' }),
    period: periodField,
    available_tiers: z.array(z.enum(tierNames)).meta({ description: 'The tiers that can be chosen.' }),
    billing: z
      .object({
        provider: z.enum(['manual', 'stripe']).meta({ description: 'manual: a chosen tier applies without payment.' }),
        status: z
          .enum(['none', 'active', 'payment_failed', 'canceled'])
          .meta({ description: 'Of the paid subscription.', examples: ['none'] }),
        period_end: timestampField()
          .nullable()
          .meta({ description: 'The end of the period that is paid for.', examples: [null] }),
        grace_until: timestampField()
          .nullable()
          .meta({ description: 'After a failed payment: until when the tier stays.', examples: [null] }),
        next_tier: z
          .object({ tier: z.enum(tierNames), at: timestampField() })
          .nullable()
          .meta({ description: 'A lower tier that has been chosen, and from when on it holds.', examples: [null] }),
      })
      .meta({ id: 'Billing' }),
    checkout_url: z
      .url()
      .optional()
      .meta({
        description: 'Only in answer to a choice that has yet to be paid for: where.',
        examples: ['https://pay.example.com/1'],
      }),
  })
  .meta({ id: 'OrganizationSubscription' })

export type OrganizationSubscription = z.infer<typeof organizationSubscription>

/** The payment provider's page for the customer. */
export const billingPortal = z
  .object({ url: z.url().meta({ examples: ['https://pay.example.com/portal'] }) })
  .meta({ id: 'BillingPortal' })

export type BillingPortal = z.infer<typeof billingPortal>
