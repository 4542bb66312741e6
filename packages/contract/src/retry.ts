import { backoffs, retryDefaults } from '@belfry/domain/retry'
import { z } from 'zod'
import { checkWhen, isReadable } from './compile.ts'
import { integer, refuse } from './fields.ts'

const policyFields = {
  max_retries: integer(0, 20).meta({ examples: [retryDefaults.maxRetries] }),
  backoff: z.enum(backoffs).meta({
    description:
      'The delay before retry n: base × 4^(n-1) if `exponential`, base × n if `linear`, base if `fixed`; at most the maximum, and then ±10 %.',
  }),
  base_delay_ms: integer(1_000, 3_600_000).meta({ examples: [retryDefaults.baseDelayMs] }),
  max_delay_ms: integer(1_000, 86_400_000).meta({ examples: [retryDefaults.maxDelayMs] }),
}

const delays_ms = z
  .array(integer(0, 30 * 86_400_000))
  .min(1)
  .max(20)
  .meta({
    description: 'The exact delay before each retry, in order. Instead of the other fields.',
    examples: [[60_000, 3_600_000]],
  })

/** When failed attempts are repeated, in a response. */
export const retry = z
  .union([z.object(policyFields), z.object({ delays_ms })])
  .meta({ id: 'Retry', description: 'Delays that grow; or `delays_ms` alone, the exact delay before each retry.' })

export type Retry = z.infer<typeof retry>

const defaults = {
  max_retries: retryDefaults.maxRetries,
  backoff: retryDefaults.backoff,
  base_delay_ms: retryDefaults.baseDelayMs,
  max_delay_ms: retryDefaults.maxDelayMs,
}

const fields = z.strictObject({ ...policyFields, delays_ms }).partial()

// The JSON Schema of what `refuseBoth` checks.
const oneKind = { dependentSchemas: { delays_ms: { maxProperties: 1 } }, examples: [defaults] }

/** The retry policy of a new task. Without a list of delays, each field has a default. */
export const retryPolicy = fields
  .extend({
    max_retries: fields.shape.max_retries.meta({ default: defaults.max_retries }),
    backoff: fields.shape.backoff.meta({ default: defaults.backoff }),
    base_delay_ms: fields.shape.base_delay_ms.meta({ default: defaults.base_delay_ms }),
    max_delay_ms: fields.shape.max_delay_ms.meta({ default: defaults.max_delay_ms }),
  })
  .check(
    checkWhen(isReadable, refuseBoth),
    checkWhen(isReadable, (given, ctx) => refuseCapBelowBase({ ...defaults, ...given }, ctx)),
  )
  .meta({ id: 'RetryRequest', ...oneKind, default: defaults })
  .transform(({ delays_ms, ...policy }) => (delays_ms ? { delays_ms } : { ...defaults, ...policy }) as Retry)
  .default(() => defaults)

/**
 * A partial change of a retry policy: a list replaces a policy, and any field of a policy replaces a list. The delays of a
 * policy are compared only when both are present.
 */
export const retryChange = fields
  .check(checkWhen(isReadable, refuseBoth), checkWhen(isReadable, refuseCapBelowBase))
  .meta({ id: 'RetryChange', ...oneKind })

export type RetryChange = z.infer<typeof fields>

function refuseBoth({ delays_ms, ...policy }: RetryChange, ctx: z.RefinementCtx): void {
  const [field] = Object.keys(policy)
  if (delays_ms === undefined || field === undefined) return
  refuse(ctx, delays_ms, { code: 'conflicting_fields', must: `not be combined with ${field}` }, ['delays_ms'])
}

// Other fields may be invalid, so one response reports all errors.
function refuseCapBelowBase({ base_delay_ms: base, max_delay_ms: max }: RetryChange, ctx: z.RefinementCtx): void {
  if (typeof base !== 'number' || typeof max !== 'number' || base <= max) return
  refuse(ctx, max, { code: 'out_of_range', must: `be at least base_delay_ms, which is ${base}` }, ['max_delay_ms'])
}
