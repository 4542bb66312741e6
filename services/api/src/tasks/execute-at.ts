import type { FieldError } from '@belfry/contract'
import { AppError, parseInstant } from '@belfry/domain'
import type { Context } from '../context.ts'
import { invalid } from '../http/refusals.ts'

const notFuture: FieldError = {
  path: 'execute_at',
  code: 'execute_at_not_future',
  message: 'execute_at must be later than now. To call a URL at once, use POST /api/events.',
}

/** The refusal of a time that is past or present (spec 7, rule 1); the database's clock has decided. */
export function executeAtNotFuture(): AppError {
  return invalid('body', [notFuture])
}

/**
 * Tells of a past execute_at together with the other faults of a body. Only a body that is refused anyway is judged
 * here, by this process's idea of the database's clock; for the others the database decides as it stores the task.
 */
export function inspectExecuteAt(ctx: Pick<Context, 'clock'>, body: unknown, schemaErrors: FieldError[]): FieldError[] {
  if (schemaErrors.length === 0 || schemaErrors.some(({ path }) => path === 'execute_at')) return []
  const text = typeof body === 'object' && body !== null && 'execute_at' in body ? body.execute_at : undefined
  const instant = typeof text === 'string' ? parseInstant(text) : null
  return instant && instant.getTime() <= ctx.clock.now() ? [notFuture] : []
}
