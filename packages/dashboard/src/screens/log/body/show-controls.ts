// Orders to terminals, except line ends and tabs; and what changes the direction of text or cannot be seen.
const unseen = /[\p{Cc}\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/gu
const kept = '\t\n'

/** Makes characters visible that a text could deceive with: control characters as their pictures, the others by number. */
export function showControls(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(unseen, character => {
    if (kept.includes(character)) return character
    const code = character.charCodeAt(0)
    if (code < 0x20) return String.fromCharCode(0x2400 + code)
    if (code === 0x7f) return '\u2421'
    return `⟨U+${code.toString(16).toUpperCase().padStart(4, '0')}⟩`
  })
}
