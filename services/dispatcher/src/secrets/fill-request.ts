import type { OpenSecret, OpenSecrets } from '@belfry/db/secrets/secrets'
import { findHeaderProblems } from '@belfry/domain/request-headers'
import { isAllowedHost } from '@belfry/domain/secrets/allowed-hosts'
import {
  fillSecretsInForm,
  fillSecretsInJson,
  fillSecretsInUrl,
  secretNamesInJson,
} from '@belfry/domain/secrets/fill-secrets'
import { createRedactor, type Redactor } from '@belfry/domain/secrets/redact'
import { replaceReferences, secretNames, secretReference } from '@belfry/domain/secrets/secret-reference'
import { checkTargetUrl } from '@belfry/domain/target-url'
import { notSent, type OwnFailure } from './attempt-outcome.ts'

/** The parts of a request that may refer to secrets. */
export type RequestParts = {
  url: string
  headers: Record<string, string>
  body: string | null
  /** In JSON a value is escaped, in a form percent-encoded, and in other text it stays as it is. */
  format: 'json' | 'form' | 'text'
}

/** Returns whether a request may refer to secrets. Few requests do. */
export function mayReferToSecrets({ url, headers, body }: RequestParts): boolean {
  if (url.includes('{{') || body?.includes('{{')) return true
  for (const name in headers) if (headers[name]?.includes('{{')) return true
  return false
}

/** Returns the names of the secrets that a request refers to, each once. */
export function secretNamesOf({ url, headers, body, format }: RequestParts): string[] {
  const inBody = body === null ? [] : format === 'json' ? secretNamesInJson(body) : secretNames(body)
  return [...new Set([...[url, ...Object.values(headers)].flatMap(secretNames), ...inBody])]
}

export type FilledRequest = RequestParts & { redactor: Redactor }

/**
 * Fills in the secrets of a request. The result is checked by the rules under which the request was accepted, because a
 * value may break them. Whether the host may be called is checked when it is dialled.
 */
export function fillRequest(
  parts: RequestParts,
  names: readonly string[],
  secrets: Readonly<OpenSecrets>,
): FilledRequest | OwnFailure {
  const missing = names.filter(name => !secrets.has(name)).map(secretReference)
  if (missing.length > 0) return notSent('secret_missing', `the workspace has no ${missing.join(' and no ')}.`)
  const unreadable = names.filter(name => secrets.get(name) instanceof Error).map(secretReference)
  if (unreadable.length > 0) {
    return notSent('secret_unreadable', `this installation cannot decrypt ${unreadable.join(' and ')}.`)
  }
  const opened = (name: string) => secrets.get(name) as OpenSecret // present and readable
  const secretOf = (name: string) => opened(name).value
  const tooMuch = excessOf(parts, names, secretOf)
  if (tooMuch !== null) return notSent('secret_invalid', tooMuch)
  const url = fillSecretsInUrl(parts.url, secretOf)
  const urlProblem = checkTargetUrl(url)
  if (urlProblem !== null)
    return notSent('secret_invalid', `with its secrets filled in, the URL is refused. ${urlProblem}`)
  const notAllowed = names.filter(name => !mayGoTo(opened(name), url)).map(secretReference)
  if (notAllowed.length > 0) {
    const allowed = notAllowed.join(' and ')
    return notSent('secret_not_allowed', `the host of the URL is not one of those that ${allowed} may be sent to.`)
  }
  const filled = Object.entries(parts.headers).map(([name, value]) => [name, replaceReferences(value, secretOf)])
  const headers: Record<string, string> = Object.fromEntries(filled)
  const [problem] = findHeaderProblems(headers)
  if (problem) {
    const where = problem.name === '' ? 'headers are' : `header ${problem.name} is`
    return notSent('secret_invalid', `with secrets filled in, the ${where} refused. ${problem.message}`)
  }
  return {
    url,
    headers,
    body: fillBody(parts, secretOf),
    format: parts.format,
    redactor: createRedactor(names.map(name => ({ name, value: secretOf(name) }))),
  }
}

function mayGoTo({ allowedHosts }: OpenSecret, url: string): boolean {
  return allowedHosts === null || isAllowedHost(allowedHosts, url)
}

// The forms in which a response may hold them take memory and time.
const maxCharacters = 16_384
const maxFilledBytes = 1024 * 1024

/** Returns a sentence about secrets that would make a request too large, before it is built; null when they do not. */
function excessOf(parts: RequestParts, names: readonly string[], secretOf: (name: string) => string): string | null {
  const characters = names.reduce((sum, name) => sum + secretOf(name).length, 0)
  if (characters > maxCharacters) {
    return `the secrets of a request may have ${maxCharacters} characters together, and these have ${characters}.`
  }
  const { url, headers, body, format } = parts
  const inBody = new Map(names.map(name => [name, bytesIn(format, secretOf(name))]))
  let bytesOfSecrets = 0
  const count = (name: string, bytes = Buffer.byteLength(secretOf(name))) => {
    bytesOfSecrets += bytes
    return ''
  }
  const texts = [url, ...Object.values(headers)].map(text => replaceReferences(text, name => count(name)))
  texts.push(fillBody(parts, name => count(name, inBody.get(name))) ?? '')
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), bytesOfSecrets)
  const limit = Math.max(maxFilledBytes, 2 * Buffer.byteLength(body ?? ''))
  return bytes > limit ? `with its secrets filled in, the request would have ${bytes} bytes, above ${limit}.` : null
}

function bytesIn(format: RequestParts['format'], value: string): number {
  if (format === 'json') return Buffer.byteLength(JSON.stringify(value)) - 2
  return Buffer.byteLength(format === 'form' ? encodeURIComponent(value) : value)
}

function fillBody({ body, format }: RequestParts, secretOf: (name: string) => string): string | null {
  if (body === null) return null
  if (format === 'form') return fillSecretsInForm(body, secretOf)
  return format === 'json' ? fillSecretsInJson(body, secretOf) : replaceReferences(body, secretOf)
}
