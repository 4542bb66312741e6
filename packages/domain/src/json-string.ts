/** The codes of JSON's structural characters. Comparing numbers is several times as fast as comparing strings. */
export const quote = 0x22
export const comma = 0x2c
export const colon = 0x3a
export const openBracket = 0x5b
export const closeBracket = 0x5d
export const openBrace = 0x7b
export const closeBrace = 0x7d

/** Returns the index after the string whose opening quote is at `start`; the text's length when the string never ends. */
export function endOfJsonString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1 && isEscaped(text, end)) end = text.indexOf('"', end + 1)
  return end === -1 ? text.length : end + 1
}

function isEscaped(text: string, index: number): boolean {
  let before = index
  while (text.charCodeAt(before - 1) === 0x5c) before--
  return (index - before) % 2 === 1
}
