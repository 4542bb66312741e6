import type { FieldError } from '@belfry/contract'
import { type AppError, parseInstant } from '@belfry/domain'
import { invalid } from '../http/refusals.ts'

const neverStartsError: FieldError = {
  path: 'expires_at',
  code: 'expires_at_not_after_execute_at',
  message: 'expires_at must be later than execute_at.',
}

const keyMissing: FieldError = {
  path: 'key',
  code: 'required',
  message: 'key is required with on_conflict.',
}

/** The refusal of a change after which the deadline of a task would not be later than its time. */
export function neverStarts(): AppError {
  return invalid('body', [neverStartsError])
}

/** Returns the errors of a deadline that is not after the time of the task, and of `on_conflict` without a key. */
export function inspectControls(body: unknown): FieldError[] {
  const { execute_at, expires_at, key, on_conflict } = Object(body) as Record<string, unknown>
  const [at, until] = [instantOf(execute_at), instantOf(expires_at)]
  return [
    ...(at && until && until <= at ? [neverStartsError] : []),
    ...(on_conflict !== undefined && key === undefined ? [keyMissing] : []),
  ]
}

function instantOf(given: unknown): Date | null {
  return typeof given === 'string' ? parseInstant(given) : null
}
