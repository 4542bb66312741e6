import { parseUrl } from './parse-url.ts'
import { findBrokenReference, replaceReferences } from './secrets/secret-reference.ts'

const maxLength = 2048

/**
 * Finds what is wrong with the text of a target's URL, as a sentence; null when nothing is. Whether its host may be
 * called is another question. References to secrets may stand anywhere in it; what they make of it is judged again,
 * by the same rules, once they are filled in.
 */
export function checkTargetUrl(template: string): string | null {
  const broken = findBrokenReference(template)
  if (broken !== null) return broken
  if (template.length > maxLength) return `The URL must have at most ${maxLength} characters.`
  const text = replaceReferences(template, (_, at) => standIn(template, at))
  if (/[\p{Cc}\p{Cs}]/u.test(text)) return 'The URL must not contain control characters or broken surrogates.'
  if (text.trim() !== text) return 'The URL must not begin or end with white space.'
  // URL parsers disagree about a back-slash, and about a third slash.
  if (text.includes('\\')) return 'The URL must not contain a back-slash.'
  if (!/^https?:\/\/[^/]/i.test(text)) return 'The URL must be absolute and begin with http:// or https://.'
  if (text.includes('#')) return 'The URL must not have a fragment (#...): it would not be sent.'
  if (/^[^/]*\/\/[^/?]*@/.test(text)) return 'The URL must not contain a user name or password; use a header.'
  return parseUrl(text) === null ? 'The URL is not valid.' : null
}

/** The scheme and authority of a URL, as they are spelled there: which host is called, and no more. */
export function originOfUrl(url: string): string {
  const [scheme = '', , rest = ''] = url.split('/', 3)
  return `${scheme}//${rest.split('?', 1)[0]}`
}

// What may stand where a reference stands: the beginning of the URL, a port, or a piece of anything else.
function standIn(template: string, at: number): string {
  if (at === 0) return 'https://secret'
  return template[at - 1] === ':' ? '1' : 'secret'
}
