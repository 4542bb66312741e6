/** Escapes a text for an element or a quoted attribute. */
export function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`)
}

/** Renders text in which `…` is code, a line that begins with "- " an item, and an empty line a new paragraph. */
export function renderProse(text: string): string {
  return text
    .split(/\n\n|\n(?=- )/)
    .map(block => `<p>${escapeHtml(block.replace(/^- /, '')).replace(/`([^`]+)`/g, '<code>$1</code>')}</p>`)
    .join('')
}
