const maxLength = 8192
const minShown = 4
/** A pattern that the values of secrets contain. `\s` is not the same in all engines, but for these two. */
export const secretValuePattern = `([^\\s\\u0085\\ufeff][\\s\\u0085\\ufeff]*){${minShown}}`
const enoughShown = new RegExp(secretValuePattern, 'u')

/** Finds what keeps a text from being the value of a secret, as a sentence that does not show it; null when nothing does. */
export function checkSecretValue(value: string): string | null {
  if (value.length > maxLength) return `The value must have at most ${maxLength} characters.`
  // Something shorter would be found, and hidden, in texts that have nothing to do with it.
  if (enoughShown.test(value)) return null
  return `The value must have at least ${minShown} characters other than spaces: a shorter one cannot be kept out of logs.`
}
