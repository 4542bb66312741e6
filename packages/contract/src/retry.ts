import { backoffs, retryDefaults } from '@belfry/domain/retry'
import { z } from 'zod'
import { integer, refuse } from './fields.ts'

const fields = {
  max_retries: integer(0, 20).meta({ examples: [retryDefaults.maxRetries] }),
  backoff: z.enum(backoffs).meta({
    description:
      'Delay before retry n: exponential base × 4^(n-1), linear base × n, fixed base; ±10 %, at most the maximum.',
  }),
  base_delay_ms: integer(1_000, 3_600_000).meta({ examples: [retryDefaults.baseDelayMs] }),
  max_delay_ms: integer(1_000, 86_400_000).meta({ examples: [retryDefaults.maxDelayMs] }),
}

/** The retry policy in a response. */
export const retry = z.object(fields).meta({ id: 'Retry' })

/** The retry policy of a new task; each field has a default. */
export const retryPolicy = z
  .strictObject({
    max_retries: fields.max_retries.default(retryDefaults.maxRetries),
    backoff: fields.backoff.default(retryDefaults.backoff),
    base_delay_ms: fields.base_delay_ms.default(retryDefaults.baseDelayMs),
    max_delay_ms: fields.max_delay_ms.default(retryDefaults.maxDelayMs),
  })
  .superRefine(refuseCapBelowBase, { when: hasBothDelays })
  .default(() => ({
    max_retries: retryDefaults.maxRetries,
    backoff: retryDefaults.backoff,
    base_delay_ms: retryDefaults.baseDelayMs,
    max_delay_ms: retryDefaults.maxDelayMs,
  }))

/** A partial change of a retry policy. The delays are compared only when both are present. */
export const retryChange = z
  .strictObject({
    max_retries: fields.max_retries.optional(),
    backoff: fields.backoff.optional(),
    base_delay_ms: fields.base_delay_ms.optional(),
    max_delay_ms: fields.max_delay_ms.optional(),
  })
  .superRefine(refuseCapBelowBase, { when: hasBothDelays })

type Delays = { base_delay_ms?: number | undefined; max_delay_ms?: number | undefined }

function refuseCapBelowBase({ base_delay_ms: base, max_delay_ms: max }: Delays, ctx: z.RefinementCtx): void {
  if (base === undefined || max === undefined || base <= max) return
  refuse(ctx, max, { code: 'out_of_range', must: `be at least base_delay_ms, which is ${base}` }, ['max_delay_ms'])
}

// Runs even when other fields are invalid, so one response reports all errors.
function hasBothDelays({ value }: { value: unknown }): boolean {
  const delays: Partial<Record<keyof Delays, unknown>> = Object(value)
  return typeof delays.base_delay_ms === 'number' && typeof delays.max_delay_ms === 'number'
}
