import { isUniqueViolation } from '@belfry/db/postgres/create-prisma'
import { AppError } from '@belfry/domain/app-error'

/** Waits for a change, and throws an error when another object has a value that must be unique. */
export function refuseDuplicate<T>(change: Promise<T>, duplicate: AppError): Promise<T> {
  return change.catch(error => {
    throw isUniqueViolation(error) ? duplicate : error
  })
}

/** Runs a change that gives an object a key. Throws `key_in_use` when another object of its kind has the key. */
export function refuseUsedKey<T>(key: string | null | undefined, change: () => Promise<T>): Promise<T> {
  if (typeof key !== 'string') return change()
  const message = `The key ${key} belongs to another object of this kind in the workspace.`
  return refuseDuplicate(change(), new AppError('key_in_use', message))
}
