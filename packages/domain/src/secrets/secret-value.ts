const maxLength = 8192
const minShown = 4

/** Finds what keeps a text from being the value of a secret, as a sentence that does not show it; null when nothing does. */
export function checkSecretValue(value: string): string | null {
  if (value.length > maxLength) return `The value must have at most ${maxLength} characters.`
  // Something shorter would be found, and hidden, in texts that have nothing to do with it.
  if (value.replaceAll(/\s/g, '').length >= minShown) return null
  return `The value must have at least ${minShown} characters other than spaces: a shorter one cannot be kept out of logs.`
}
