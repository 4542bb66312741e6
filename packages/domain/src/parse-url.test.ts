import { expect, it } from 'vitest'
import { parseUrl } from './parse-url.ts'

it('parses only URLs', () => {
  expect(parseUrl('https://example.com/a?b#c')?.pathname).toBe('/a')
  for (const text of ['', 'example.com', 'https://', 'https://a b/']) expect(parseUrl(text)).toBeNull()
})

it('accepts letters beyond ASCII after any number of calls', () => {
  for (let i = 0; i < 20_000; i++) expect(parseUrl('https://münchen.example/ä')?.host).toBe('xn--mnchen-3ya.example')
})
