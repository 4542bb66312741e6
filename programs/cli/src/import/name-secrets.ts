import { secretReference } from '@belfry/domain/secrets/secret-reference'
import { hostOf } from '@belfry/domain/target-url'

const credential = /^(authorization|cookie|.*(api-?key|token|secret|password).*)$/i

/** Names of secrets by their values, so equal values of one source share a name. */
export type SecretNames = Map<string, string>

/**
 * Returns headers with references in place of credentials, such as `Bearer {{ secrets.API_EXAMPLE_COM_AUTHORIZATION }}`. The
 * values are not imported: the user stores them.
 */
export function nameSecrets(headers: Record<string, string>, url: string, names: SecretNames): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => {
      if (!credential.test(name) || value.includes('{{ secrets.')) return [name, value]
      const [, scheme = '', secret = ''] = /^((?:Bearer|Basic|Token)\s+)?(.*)$/is.exec(value) ?? []
      if (!names.has(secret)) names.set(secret, unusedName(secretName(`${hostOf(url)} ${name}`), names))
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

function unusedName(name: string, names: SecretNames): string {
  const used = new Set(names.values())
  for (let n = 1; ; n++) {
    const next = n === 1 ? name : `${name}_${n}`
    if (!used.has(next)) return next
  }
}
