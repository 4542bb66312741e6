const maxCharacters = 120
// A page of HTML begins with its markup.
const maxRead = 8_000

/** Returns the first 120 characters of a text, without markup and white space, or null if nothing is left. */
export function excerptOf(text: string): string | null {
  const plain = text
    .slice(0, maxRead)
    .replace(/<(script|style)\b.*?<\/\1>|<[^>]*>/gis, ' ')
    .replace(/\s+/g, ' ')
    .trim()
  const characters = Array.from(plain)
  if (characters.length <= maxCharacters) return plain === '' ? null : plain
  return `${characters.slice(0, maxCharacters).join('')}…`
}
