import { isSecretName } from '@belfry/domain'
import type { Request } from 'express'
import { invalid, notFound } from '../http/refusals.ts'

/** The name in the path of an existing secret; one that no secret can have is answered like one that none has. */
export function secretNameOf(request: Request): string {
  const name = String(request.params.name)
  if (!isSecretName(name)) throw notFound()
  return name
}

/** The name in the path of a secret that is to be made. */
export function newSecretNameOf(request: Request): string {
  const name = String(request.params.name)
  if (isSecretName(name)) return name
  const message = 'A name has 1 to 64 capital letters, digits and underscores, and begins with a letter.'
  const errors = [{ path: 'name', code: 'invalid_secret_name', message }]
  throw invalid('path', errors)
}
