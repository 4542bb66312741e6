/**
 * The host and port that a URL's origin names, in one spelling. An origin that holds a reference to a secret, or is no
 * valid one, stands for itself.
 */
export function hostOf(origin: string): string {
  if (origin !== latest.origin) latest = { origin, host: URL.canParse(origin) ? new URL(origin).host : origin }
  return latest.host
}

// Tasks for the same target come together.
let latest = { origin: '', host: '' }
