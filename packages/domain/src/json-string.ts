/** The index after the string that starts at `start` with its quote; the text's length when the string never ends. */
export function endOfJsonString(text: string, start: number): number {
  let quote = text.indexOf('"', start + 1)
  while (quote !== -1 && isEscaped(text, quote)) quote = text.indexOf('"', quote + 1)
  return quote === -1 ? text.length : quote + 1
}

function isEscaped(text: string, index: number): boolean {
  let before = index
  while (text.charCodeAt(before - 1) === 0x5c) before--
  return (index - before) % 2 === 1
}
