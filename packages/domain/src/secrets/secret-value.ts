const maxLength = 8192
const minShown = 4
/** A pattern that every secret value matches. Regex engines differ only in these two characters of `\s`. */
export const secretValuePattern = `([^\\s\\u0085\\ufeff][\\s\\u0085\\ufeff]*){${minShown}}`
const enoughShown = new RegExp(secretValuePattern, 'u')

/** Returns a sentence about why text cannot be a secret value, without showing it, or null if it can. */
export function checkSecretValue(value: string): string | null {
  if (value.length > maxLength) return `The value must have at most ${maxLength} characters.`
  // A shorter value would be redacted in unrelated texts.
  if (enoughShown.test(value)) return null
  return `The value must have at least ${minShown} characters other than spaces: shorter values cannot be redacted from logs.`
}
