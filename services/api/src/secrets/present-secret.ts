import type { Secret } from '@belfry/contract'
import type { SecretEntry } from '@belfry/db'

/** The public form of a secret. */
export function presentSecret({ name, createdAt, updatedAt }: SecretEntry): Secret {
  return { name, created_at: createdAt.toISOString(), updated_at: updatedAt.toISOString() }
}
