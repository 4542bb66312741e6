import { AppError } from '@belfry/domain'
import { type LimitContext, limitOf } from './limit-of.ts'

/**
 * Refuses a payload that the tier has no room for.
 * @param payload - Its JSON text; null or undefined for none.
 * @throws AppError `quota_exceeded`
 */
export async function refuseLargePayload(
  ctx: LimitContext,
  organizationId: string,
  payload: string | null | undefined,
): Promise<void> {
  const refusal = largePayload(payload, await limitOf(ctx, organizationId, 'payloadBytes'))
  if (refusal) throw refusal
}

/** The refusal for a payload of more bytes than that; null for any other. */
export function largePayload(payload: string | null | undefined, limit: number): AppError | null {
  const bytes = Buffer.byteLength(payload ?? '')
  if (bytes <= limit) return null
  const message = `The payload has ${bytes} bytes; the tier allows ${limit}. Send a reference, or choose a higher tier.`
  return new AppError('quota_exceeded', message)
}
