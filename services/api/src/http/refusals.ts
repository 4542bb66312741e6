import type { FieldError } from '@belfry/domain/app-error'
import { AppError } from '@belfry/domain/app-error'

/** The refusal for an object that does not exist or that the caller may not see. */
export function notFound(): AppError {
  return new AppError('not_found', 'The object does not exist, or you may not see it.')
}

/** The refusal of a body, or another part of a request, with one value that is not allowed. */
export function invalidField(path: string, code: string, message: string, part: Part = 'body'): AppError {
  return invalid(part, [{ path, code, message }])
}

type Part = 'body' | 'query' | 'path'

/** The refusal of a request a part of which has values that are not allowed. */
export function invalid(part: Part, errors: readonly FieldError[]): AppError {
  return new AppError('validation_failed', `The ${part} is invalid; see errors.`, { errors })
}
