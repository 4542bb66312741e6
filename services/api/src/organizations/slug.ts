import { randomBytes } from 'node:crypto'

const maxLength = 63

// A slug is the first part of the paths of an organization's dashboard. These paths have another meaning.
const reserved = new Set([
  ...['account', 'admin', 'api', 'assets', 'confirm-alerts', 'confirm-email', 'forgot-password', 'healthz'],
  ...['invitations', 'metrics', 'readyz', 'register', 'reset-password', 'sign-in', 'unsubscribe', 'welcome'],
])

export function isReservedSlug(slug: string): boolean {
  return reserved.has(slug)
}

/** Makes a slug from a name: lower-case ASCII letters and digits, joined by single hyphens, 2 to 63 characters. */
export function slugOf(name: string): string {
  const ascii = name.normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase()
  const slug = ascii.replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '')
  return slug.length < 2 ? 'organization' : slug.slice(0, maxLength).replace(/-$/, '')
}

export function withSuffix(slug: string): string {
  const suffix = randomBytes(3).toString('hex')
  return `${slug.slice(0, maxLength - suffix.length - 1).replace(/-$/, '')}-${suffix}`
}
