import { createRedactor, type Redactor } from '@belfry/domain/secrets/redact'
import { LRUCache } from 'lru-cache'

/** Redactors of credentials. The patterns of a long token take milliseconds to make, and many calls send the same token. */
export type CredentialRedactors = ReturnType<typeof createCredentialRedactors>

// The patterns of a character take up to 300 bytes.
const maxCharacters = 100_000

export function createCredentialRedactors() {
  const redactors = new LRUCache<string, Redactor>({
    maxSize: maxCharacters,
    sizeCalculation: (_redactor, key) => key.length,
  })
  return {
    /** Returns a redactor that replaces values by a reference. */
    get(hidden: readonly string[], reference: string): Redactor {
      const key = [reference, ...hidden].join('\n')
      const known = redactors.get(key)
      if (known) return known
      const redactor = createRedactor(hidden.map(value => ({ name: '', value, put: reference })))
      redactors.set(key, redactor)
      return redactor
    },
  }
}
