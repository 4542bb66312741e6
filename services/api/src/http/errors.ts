import { isUniqueViolation } from '@belfry/db/postgres/create-prisma'
import { AppError, type FieldError } from '@belfry/domain/app-error'

/** The error for an object that does not exist or that the caller may not see. */
export function notFound(): AppError {
  return new AppError('not_found', "Not found, or you don't have access.")
}

/** The error of a body, or another part of a request, with one value that is not allowed. */
export function invalidField(path: string, code: string, message: string, part: Part = 'body'): AppError {
  return invalid(part, [{ path, code, message }])
}

type Part = 'body' | 'query' | 'path'

export function invalid(part: Part, errors: readonly FieldError[]): AppError {
  return new AppError('validation_failed', `The ${part} is invalid; see errors.`, { errors })
}

/** Waits for a change, and throws an error when another object has a value that must be unique. */
export function refuseDuplicate<T>(change: Promise<T>, duplicate: AppError): Promise<T> {
  return change.catch(error => {
    throw isUniqueViolation(error) ? duplicate : error
  })
}

/**
 * Runs a change that gives an object a key.
 * @throws AppError `key_in_use` when another object of its kind has the key.
 */
export function refuseUsedKey<T>(key: string | null | undefined, change: () => Promise<T>): Promise<T> {
  if (typeof key !== 'string') return change()
  const message = `The key ${key} belongs to another object of this kind in the workspace.`
  return refuseDuplicate(change(), new AppError('key_in_use', message))
}
