import { describe, expect, it } from 'vitest'
import { fillSecretsInForm, fillSecretsInJson, fillSecretsInUrl, secretNamesInJson } from './fill-secrets.ts'

const values: Record<string, string> = {
  A: 'a"b\\c\n/é',
  KEY: 'x+y/z=&?#',
  HOST: 'example.com:8080',
  URL: 'https://example.com/T0/B0',
}
const secretOf = (name: string) => values[name] ?? ''

describe('a secret in JSON text', () => {
  it('is escaped, and no other byte changes', () => {
    const text = '{ "a" : "1 {{ secrets.A }}",\n"n":1.10, "b":[ "{{secrets.A}}" ,"\\u00e9{{ secrets.KEY }}\\"" ] }'
    const filled = fillSecretsInJson(text, secretOf)
    expect(filled).toBe('{ "a" : "1 a\\"b\\\\c\\n/é",\n"n":1.10, "b":[ "a\\"b\\\\c\\n/é" ,"\\u00e9x+y/z=&?#\\"" ] }')
    expect(secretNamesInJson(text)).toEqual(['A', 'KEY'])
    expect(JSON.parse(filled).a).toBe(`1 ${values.A}`)
  })

  it('stays a reference in a key, and where a brace is escaped', () => {
    const text = '{"{{ secrets.A }}" \n: {"x{{ secrets.A }}":"\\u007b{ secrets.A }}"}}'
    expect(fillSecretsInJson(text, secretOf)).toBe(text)
    expect(secretNamesInJson(text)).toEqual([])
  })

  it('may be the whole text', () => {
    expect(fillSecretsInJson('"{{ secrets.HOST }}"', secretOf)).toBe('"example.com:8080"')
  })
})

it('in a form is percent-encoded, unless its reference is raw', () => {
  const form = 'token={{ secrets.KEY }}&text=a+{{secrets.A}}&sum={{ secrets.KEY | raw }}&{{secrets.KEY|raw}}'
  const filled = fillSecretsInForm(form, secretOf)
  expect(filled).toBe('token=x%2By%2Fz%3D%26%3F%23&text=a+a%22b%5Cc%0A%2F%C3%A9&sum=x+y/z=&?#&x+y/z=&?#')
  expect(new URLSearchParams(filled).get('token')).toBe(values.KEY)
})

it.each([
  [
    'https://example.com/{{ secrets.KEY }}?k={{ secrets.KEY }}',
    'https://example.com/x%2By%2Fz%3D%26%3F%23?k=x%2By%2Fz%3D%26%3F%23',
  ],
  ['https://{{ secrets.HOST }}/x', 'https://example.com:8080/x'],
  ['https://{{ secrets.HOST }}/{{ secrets.HOST }}', 'https://example.com:8080/example.com%3A8080'],
  ['{{ secrets.URL }}', 'https://example.com/T0/B0'],
  ['{{ secrets.URL }}/x?y={{ secrets.KEY }}', 'https://example.com/T0/B0/x?y=x%2By%2Fz%3D%26%3F%23'],
  ['https://example.com?k={{ secrets.KEY }}', 'https://example.com?k=x%2By%2Fz%3D%26%3F%23'],
])('a secret in the URL %j', (url, filled) => {
  expect(fillSecretsInUrl(url, secretOf)).toBe(filled)
})
