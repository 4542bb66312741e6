import { findBrokenReference } from './secrets/secret-reference.ts'

export type HeaderProblem = { name: string; message: string }

const maxCount = 50
const maxLength = 8192

const token = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/
// Visible Latin-1. A control character could end the header, and other characters would be lost in transit.
const visible = /^[\x20-\x7e\xa0-\xff]*$/

const reserved = new Set([
  ...['host', 'content-length', 'transfer-encoding', 'te', 'trailer', 'trailers'],
  ...['connection', 'keep-alive', 'upgrade', 'expect', 'http2-settings'],
  // Receivers that keep headers in plain objects can break on it.
  '__proto__',
])
const reservedPrefixes = ['proxy-', 'webhook-', 'x-belfry-']

/** Returns the name of a header as it is usually written: `X-Api-Key`. */
export function headerCase(name: string): string {
  return name.toLowerCase().replace(/(^|-)[a-z]/g, letter => letter.toUpperCase())
}

/** Returns the problems of a task's headers. A problem of all headers together has an empty name. */
export function findHeaderProblems(headers: Readonly<Record<string, unknown>>): HeaderProblem[] {
  const entries = Object.entries(headers)
  if (entries.length > maxCount) return [{ name: '', message: `At most ${maxCount} headers are allowed.` }]
  const seen = new Set<string>()
  const problems: HeaderProblem[] = []
  let length = 0
  for (const [name, value] of entries) {
    const message = problemOf(name, value, seen)
    if (message !== null) problems.push({ name, message })
    seen.add(name.toLowerCase())
    length += name.length + (typeof value === 'string' ? value.length : 0)
  }
  if (length > maxLength) {
    problems.push({ name: '', message: `Names and values must have at most ${maxLength} characters in total.` })
  }
  return problems
}

function problemOf(name: string, value: unknown, seen: ReadonlySet<string>): string | null {
  const lower = name.toLowerCase()
  if (!token.test(name)) return 'The name must consist of letters, digits and hyphens (an RFC 9110 token).'
  if (reserved.has(lower) || reservedPrefixes.some(prefix => lower.startsWith(prefix))) {
    return 'This header is set by Belfry or the connection, so a task cannot set it.'
  }
  if (seen.has(lower)) return 'This header appears twice; names are case-insensitive.'
  if (typeof value !== 'string') return 'The value must be a string.'
  if (!visible.test(value)) return 'The value must consist of visible Latin-1 characters and spaces.'
  return findBrokenReference(value)
}
