import { expect, it } from 'vitest'
import { isReservedSlug, slugOf, withSuffix } from './slug.ts'

const form = /^[a-z0-9](-?[a-z0-9])*$/

it.each([
  ['Acme Inc.', 'acme-inc'],
  ['  Söderström & Öberg  ', 'soderstrom-oberg'],
  ['日本', 'organization'],
  ['a', 'organization'],
  ['A--B', 'a-b'],
])('makes a slug of %j', (name, slug) => {
  expect(slugOf(name)).toBe(slug)
})

it('keeps slugs of long names, with and without a suffix, within the form and 63 characters', () => {
  const slug = slugOf(`${'a'.repeat(62)} tail`)
  for (const text of [slug, withSuffix(slug), withSuffix('ab')]) {
    expect(text).toMatch(form)
    expect(text.length).toBeLessThanOrEqual(63)
  }
})

it.each(['api', 'admin', 'sign-in', 'welcome'])('knows that %s is no organization’s', slug => {
  expect(isReservedSlug(slug)).toBe(true)
  expect(isReservedSlug(withSuffix(slug))).toBe(false)
})
