import type { FieldError } from '@belfry/contract'
import { AppError, parseInstant } from '@belfry/domain'
import type { Context } from '../context.ts'
import { invalid } from '../http/refusals.ts'

const notFuture: FieldError = {
  path: 'execute_at',
  code: 'execute_at_not_future',
  message: 'execute_at must be later than now. To call a URL at once, use POST /api/events.',
}

/**
 * The refusal of a new or changed task whose time has come. A time that was in the future when the request arrived has passed while the
 * request waited for the database. That is no mistake of the caller, who would not repeat a refused request.
 * @param arrivedAt - When the request arrived, by the database's clock, in epoch milliseconds.
 */
export function executeAtPassed(executeAt: Date | null, arrivedAt: number): AppError {
  if (executeAt === null || executeAt.getTime() <= arrivedAt) return invalid('body', [notFuture])
  return new AppError('unavailable', 'execute_at passed while the request waited for the database. Send a later time.')
}

/**
 * Returns the error of a past execute_at in a body that has other errors, by this process's estimate of the database's
 * clock. For a body without other errors the database decides when it stores the task.
 */
export function inspectExecuteAt(ctx: Pick<Context, 'clock'>, body: unknown, schemaErrors: FieldError[]): FieldError[] {
  if (schemaErrors.length === 0 || schemaErrors.some(({ path }) => path === 'execute_at')) return []
  const text = typeof body === 'object' && body !== null && 'execute_at' in body ? body.execute_at : undefined
  const instant = typeof text === 'string' ? parseInstant(text) : null
  return instant && instant.getTime() <= ctx.clock.now() ? [notFuture] : []
}
