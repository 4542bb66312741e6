import { figureNames, tierNames } from '@belfry/domain'
import { z } from 'zod'
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
