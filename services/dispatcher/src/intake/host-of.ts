/**
 * The host and port that a URL's origin names, in one spelling. An origin that holds a reference to a secret, or is no
 * valid one, stands for itself.
 */
export function hostOf(origin: string): string {
  return URL.canParse(origin) ? new URL(origin).host : origin
}
