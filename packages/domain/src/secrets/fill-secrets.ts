import { endOfJsonString, skipSpace } from '../json-text.ts'
import { replaceReferences } from './secret-reference.ts'

export type SecretOf = (name: string) => string

/**
 * Fills in the secrets of a URL. Before the path a value is inserted as is, because it may be a host or the whole start of
 * the URL. In the path and the query it is percent-encoded, so it cannot add parts.
 */
export function fillSecretsInUrl(url: string, secretOf: SecretOf): string {
  return replaceReferences(url, (name, at) => {
    return beforePath.test(url.slice(0, at)) ? secretOf(name) : encodeURIComponent(secretOf(name))
  })
}

const beforePath = /^(?:https?:\/\/[^/?]*)?$/i

/**
 * Fills in the secrets of the string values of valid JSON text. Keys, and all other bytes, stay unchanged. An escaped brace
 * is not part of a reference.
 */
export function fillSecretsInJson(json: string, secretOf: SecretOf): string {
  if (!json.includes('{{')) return json
  let filled = ''
  let done = 0
  for (let start = json.indexOf('"'); start !== -1; start = json.indexOf('"', done)) {
    const end = endOfJsonString(json, start)
    const text = json.slice(done, end)
    const isKey = json[skipSpace(json, end)] === ':'
    filled += isKey ? text : replaceReferences(text, name => JSON.stringify(secretOf(name)).slice(1, -1))
    done = end
  }
  return filled + json.slice(done)
}

/** Fills in the secrets of a body in application/x-www-form-urlencoded, percent-encoded unless the reference is raw. */
export function fillSecretsInForm(form: string, secretOf: SecretOf): string {
  return replaceReferences(form, (name, _, isRaw) => (isRaw ? secretOf(name) : encodeURIComponent(secretOf(name))))
}

/** Returns the names of the secrets that the string values of valid JSON text refer to, each once. */
export function secretNamesInJson(json: string): string[] {
  const names = new Set<string>()
  fillSecretsInJson(json, name => {
    names.add(name)
    return ''
  })
  return [...names]
}
