import { AppError } from '@belfry/domain'

/** The one answer for what does not exist and for what the caller may not know of. */
export function notFound(): AppError {
  return new AppError('not_found', 'There is nothing here that you may see.')
}
