// Orders to terminals, except line ends and tabs; and what changes the direction of text or cannot be seen.
const unseen = /[\p{Cc}\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/gu
const kept = '\t\n'

/** Makes visible, by its number, every character that a text could deceive with. */
export function showControls(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(unseen, character => {
    if (kept.includes(character)) return character
    return `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`
  })
}
