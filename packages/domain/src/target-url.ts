import { isBlockedPort } from './blocked-ports.ts'
import { parseUrl } from './parse-url.ts'
import { findBrokenReference, replaceReferences } from './secrets/secret-reference.ts'

const maxLength = 2048

/**
 * Returns the problem of a target URL, as a sentence; null when it is valid. It does not check whether the host is allowed.
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

// Returns a sample value for a reference, which may stand for the start of the URL, a port, or any other part.
function standIn(template: string, at: number): string {
  if (at === 0) return 'https://secret'
  return template[at - 1] === ':' ? '2' : 'secret'
}
