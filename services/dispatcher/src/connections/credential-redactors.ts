import { createRedactor, type Redactor } from '@belfry/domain/secrets/redact'
import { LRUCache } from 'lru-cache'

// The patterns of a character take up to 300 bytes.
const maxCharacters = 100_000

/** Keeps redactors of credentials. The patterns of a long token take milliseconds to make, and many calls send the same token. */
export function createCredentialRedactors() {
  const redactors = new LRUCache<string, Redactor, { hidden: readonly string[]; reference: string }>({
    maxSize: maxCharacters,
    sizeCalculation: (_redactor, key) => key.length,
    memoMethod: (_key, _old, { context: { hidden, reference } }) =>
      createRedactor(hidden.map(value => ({ name: '', value, put: reference }))),
  })
  return {
    /** Returns a redactor that replaces values by a reference. */
    get: (hidden: readonly string[], reference: string): Redactor =>
      redactors.memo([reference, ...hidden].join('\n'), { context: { hidden, reference } }),
  }
}
