import { secretReference } from '@belfry/domain/secrets/secret-reference'
import { hostOf } from '@belfry/domain/target-url'
import { unusedName } from '../configuration/write-configuration.ts'
import type { Importable } from './entry.ts'

const credential = /^(authorization|cookie|.*(api-?key|token|secret|password).*)$/i

/**
 * Returns entries with references in place of credentials in their headers, such as
 * `Bearer {{ secrets.API_EXAMPLE_COM_AUTHORIZATION }}`. The values are not imported: the user stores them. Equal values share a
 * name.
 */
export function nameSecrets(entries: readonly Importable[]): Importable[] {
  const names = new Map<string, string>()
  return entries.map(entry => {
    const { headers, url } = entry.job
    if (headers === undefined) return entry
    const named = { headers: namedHeaders(headers, url, names) }
    return { ...entry, job: { ...entry.job, ...named }, body: { ...entry.body, ...named } }
  })
}

function namedHeaders(headers: Record<string, string>, url: string, names: Map<string, string>) {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (!credential.test(name) || value.includes('{{ secrets.')) return [name, value]
      const [, scheme = '', secret = ''] = /^((?:Bearer|Basic|Token)\s+)?(.*)$/is.exec(value) ?? []
      const taken = new Set(names.values())
      if (!names.has(secret)) names.set(secret, unusedName(secretName(`${hostOf(url)} ${name}`), '_', taken))
      return [name, scheme + secretReference(names.get(secret) ?? '')]
    }),
  )
}

/** Returns the name of a secret for other text, such as the name of a variable. */
export function secretName(text: string): string {
  return text
    .toUpperCase()
    .replace(/[^A-Z0-9]+/g, '_')
    .replace(/^[^A-Z]+|_$/g, '')
    .slice(0, 60)
}
