/** What stands for a secret where it must not be seen: `{{ secrets.NAME }}`. */
export function secretReference(name: string): string {
  return `{{ secrets.${name} }}`
}

const nameForm = /^[A-Z][A-Z0-9_]{0,63}$/
const references = /\{\{ *secrets\.([A-Z][A-Z0-9_]{0,63}) *\}\}/g
// Also what was meant as one: an unknown name is a fault of the moment, a name that nobody can have one for good.
const anyReference = /\{\{\s*secrets\s*\./i

/** Tells whether a secret can have this name. */
export function isSecretName(text: string): boolean {
  return nameForm.test(text)
}

/** Finds the names of the secrets that a text refers to, each once. */
export function secretNames(text: string): string[] {
  if (!text.includes('{{')) return []
  return [...new Set(Array.from(text.matchAll(references), ([, name = '']) => name))]
}

/** Finds a reference that can never be filled in, as a sentence; null when there is none. */
export function findBrokenReference(text: string): string | null {
  if (!text.includes('{{') || !anyReference.test(text.replace(references, ''))) return null
  return 'A secret is referred to as {{ secrets.NAME }}, with a NAME of capital letters, digits and underscores.'
}

/** Puts something in the place of each reference; `at` is where the reference begins. */
export function replaceReferences(text: string, put: (name: string, at: number) => string): string {
  return text.includes('{{') ? text.replace(references, (_, name: string, at: number) => put(name, at)) : text
}
