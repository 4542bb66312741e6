import { isUniqueViolation } from '@belfry/db/postgres/create-prisma'
import { AppError, type FieldError } from '@belfry/domain/app-error'

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

/**
 * Runs a change that gives an object a key.
 * @throws AppError `key_in_use` when another object of its kind has the key.
 */
export async function refuseUsedKey<T>(key: string | null | undefined, change: () => Promise<T>): Promise<T> {
  try {
    return await change()
  } catch (error) {
    if (typeof key !== 'string' || !isUniqueViolation(error)) throw error
    throw new AppError('key_in_use', `The key ${key} belongs to another object of this kind in the workspace.`)
  }
}
