import { isUniqueViolation } from '@belfry/db/postgres/create-prisma'
import { AppError } from '@belfry/domain/app-error'

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
