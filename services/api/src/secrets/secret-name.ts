import { isSecretName } from '@belfry/domain'
import type { Request } from 'express'
import { invalid, notFound } from '../http/refusals.ts'

/** Returns the name of a secret in the path. Throws `not_found` for a name that no secret can have. */
export function secretNameOf(request: Request): string {
  const name = String(request.params.name)
  if (!isSecretName(name)) throw notFound()
  return name
}

/** Returns the name of a new secret in the path. Throws `validation_failed` for an invalid name. */
export function newSecretNameOf(request: Request): string {
  const name = String(request.params.name)
  if (isSecretName(name)) return name
  const message = 'A name has 1 to 64 capital letters, digits and underscores, and begins with a letter.'
  const errors = [{ path: 'name', code: 'invalid_secret_name', message }]
  throw invalid('path', errors)
}
