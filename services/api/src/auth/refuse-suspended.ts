import { AppError } from '@belfry/domain/app-error'

/** Throws `suspended` when an operator has suspended the object. */
export function refuseSuspended(
  name: 'organization' | 'workspace',
  { suspendedAt }: { suspendedAt: Date | null },
): void {
  if (suspendedAt === null) return
  throw suspended(name)
}

/** Returns the refusal of a suspended user, organization or workspace. */
export function suspended(name: 'user' | 'organization' | 'workspace'): AppError {
  return new AppError('suspended', `The ${name} is suspended. Contact the operator of this installation.`)
}
