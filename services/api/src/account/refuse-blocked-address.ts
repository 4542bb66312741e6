import { readMailBlock } from '@belfry/db/outbox/mail-blocks'
import { AppError } from '@belfry/domain/app-error'
import type { Context } from '../context.ts'

/**
 * Refuses to write to an address that an operator has blocked.
 * @throws AppError `conflict`.
 */
export async function refuseBlockedAddress({ pool }: Context, email: string): Promise<void> {
  const { isBlocked } = await readMailBlock(pool, email)
  if (isBlocked) throw new AppError('conflict', 'The operator of this installation sends no mail to this address.')
}
