import { findBrokenReference, replaceReferences } from './secrets/secret-reference.ts'

const maxLength = 2048

/**
 * Returns the problem of a target URL, as a sentence, or null if it is valid. It does not check whether the host is allowed.
 * The URL may contain references to secrets, and is checked again once they are filled in.
 */
export function checkTargetUrl(template: string): string | null {
  const broken = findBrokenReference(template)
  if (broken !== null) return broken
  if (template.length > maxLength) return `The URL must have at most ${maxLength} characters.`
  const text = replaceReferences(template, (_, at) => standIn(template, at))
  if (/[\p{Cc}\p{Cs}]/u.test(text)) return 'The URL must not contain control characters or broken surrogates.'
  if (text.trim() !== text) return 'The URL must not start or end with white space.'
  // URL parsers disagree about backslashes, and about a third slash.
  if (text.includes('\\')) return 'The URL must not contain a backslash.'
  if (!/^https?:\/\/[^/]/i.test(text)) return 'The URL must be absolute and start with http:// or https://.'
  if (text.includes('#')) return 'The URL must not have a fragment (#...), because fragments are not sent.'
  if (/^[^/]*\/\/[^/?]*@/.test(text)) return 'The URL must not contain a user name or password; use a header.'
  const url = parseUrl(text)
  if (url === null) return 'The URL is not valid.'
  if (url.port !== '' && isBlockedPort(Number(url.port))) {
    return `Belfry does not call port ${url.port}, which usually belongs to a service of another protocol.`
  }
  return null
}

/** Returns the scheme and authority of a URL, in its own spelling. */
export function originOfUrl(url: string): string {
  const [scheme = '', , rest = ''] = url.split('/', 3)
  return `${scheme}//${rest.split('?', 1)[0]}`
}

// Returns a sample value for a reference: for the start of the URL, a port, or any other part.
function standIn(template: string, at: number): string {
  if (at === 0) return 'https://secret'
  return template[at - 1] === ':' ? '2' : 'secret'
}

// The "bad ports" of the Fetch standard: ports of services whose protocols a request body could speak, such as SMTP and IRC.
// Without 0, 1 and 9: requests to them are harmless, and examples use them as closed ports.
const blockedPorts: ReadonlySet<number> = new Set([
  7, 11, 13, 15, 17, 19, 20, 21, 22, 23, 25, 37, 42, 43, 53, 69, 77, 79, 87, 95, 101, 102, 103, 104, 109, 110, 111, 113,
  115, 117, 119, 123, 135, 137, 139, 143, 161, 179, 389, 427, 465, 512, 513, 514, 515, 526, 530, 531, 532, 540, 548,
  554, 556, 563, 587, 601, 636, 989, 990, 993, 995, 1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566,
  6665, 6666, 6667, 6668, 6669, 6679, 6697, 10080,
])

/** Returns whether browsers and Belfry refuse to call a port, because it usually belongs to another protocol. */
export function isBlockedPort(port: number): boolean {
  return blockedPorts.has(port)
}

/**
 * Parses a URL; returns null for other text. `URL.canParse` is not used: after some thousand calls in Node 20 and 22 it
 * refuses URLs with letters beyond ASCII.
 */
export function parseUrl(text: string): URL | null {
  try {
    return new URL(text)
  } catch {
    return null
  }
}

/**
 * Returns the host and port that a URL or its origin names, in one spelling. Text that is no URL before its path, such as
 * one with a reference to a secret, is its own host.
 */
export function hostOf(url: string): string {
  const origin = /^[^/]*\/\/[^/?]*/.exec(url)?.[0] ?? url
  return parseUrl(origin)?.host ?? origin
}
