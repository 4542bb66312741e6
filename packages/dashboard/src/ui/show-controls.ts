// Control characters, and characters that are invisible or change the direction of text.
const invisible = /[\p{Cc}\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]/gu
const kept = '\t\n'

/** Replaces characters that could disguise a text by their code points. Line feeds and tabs stay. */
export function showControls(text: string): string {
  return text.replaceAll('\r\n', '\n').replace(invisible, character => {
    if (kept.includes(character)) return character
    return `⟨U+${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}⟩`
  })
}
