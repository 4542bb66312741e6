/** Returns whether a key goes into a field. */
export function isTyping(target: EventTarget | null): boolean {
  const fields = 'input:not([type=checkbox], [type=radio]), textarea, select'
  return target instanceof HTMLElement && (target.isContentEditable || target.matches(fields))
}
