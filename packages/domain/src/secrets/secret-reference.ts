/** Returns the reference to a secret: `{{ secrets.NAME }}`. */
export function secretReference(name: string): string {
  return `{{ secrets.${name} }}`
}

const nameForm = /^[A-Z][A-Z0-9_]{0,63}$/
const references = /\{\{ *secrets\.([A-Z][A-Z0-9_]{0,63}) *(\| *raw *)?\}\}/g
// Includes malformed references: an unknown name can be created later, an impossible name cannot.
const anyReference = /\{\{\s*secrets\s*\./i

export function isSecretName(text: string): boolean {
  return nameForm.test(text)
}

/** Returns the names of the secrets that a text refers to, each once. */
export function secretNames(text: string): string[] {
  if (!text.includes('{{')) return []
  return [...new Set(Array.from(text.matchAll(references), ([, name = '']) => name))]
}

/** Returns a sentence about a reference that can never be filled in, or null if all can. */
export function findBrokenReference(text: string): string | null {
  if (!text.includes('{{') || !anyReference.test(text.replace(references, ''))) return null
  return 'References to secrets have the form {{ secrets.NAME }}, where NAME has capital letters, digits and underscores.'
}

/** Replaces each reference; `at` is its index. `{{ secrets.NAME | raw }}` is raw: its value enters a form without encoding. */
export function replaceReferences(text: string, put: (name: string, at: number, isRaw: boolean) => string): string {
  if (!text.includes('{{')) return text
  return text.replace(references, (_, name: string, raw: string | undefined, at: number) =>
    put(name, at, raw !== undefined),
  )
}
