import { cpuTimeOf } from '@belfry/test-support/cpu-time'
import { describe, expect, it } from 'vitest'
import { findHeaderProblems } from '../request-headers.ts'
import { findBrokenReference, isSecretName, replaceReferences, secretNames } from './secret-reference.ts'

describe('a reference to a secret', () => {
  it('is found with any number of spaces, and each name once', () => {
    expect(secretNames('{{ secrets.A }}{{secrets.B_2}} {{  secrets.A  }}')).toEqual(['A', 'B_2'])
    expect(secretNames('{ { secrets.A } } {{ other.A }} {{ secrets.A }')).toEqual([])
  })

  it('is replaced in place, and its value is not parsed again', () => {
    expect(replaceReferences('a{{ secrets.A }}b', name => `<${name}>`)).toBe('a<A>b')
    expect(replaceReferences('{{ secrets.A }}', () => '$& {{ secrets.B }}')).toBe('$& {{ secrets.B }}')
  })

  it.each([
    '{{ secrets.lower }}',
    '{{secrets.1A}}',
    '{{ secrets. }}',
    '{{ secrets.A',
    `{{ secrets.A${'B'.repeat(64)} }}`,
  ])('is refused as %j', text => {
    expect(findBrokenReference(`{{ secrets.FINE }} ${text}`)).toContain('NAME')
    expect(findHeaderProblems({ Authorization: text })).toMatchObject([{ name: 'Authorization' }])
  })

  it.each(['{{ secrets.FINE }}', '{{ name }}', '{{ secrets }}', 'secrets.lower', ''])(
    'is not found wanting in %j',
    text => {
      expect(findBrokenReference(text)).toBeNull()
      expect(findHeaderProblems({ Authorization: text })).toEqual([])
    },
  )

  it('is checked fast in any text', () => {
    const text = `${'{{ '.repeat(80_000)}{{${' '.repeat(200_000)}`
    expect(cpuTimeOf(() => findBrokenReference(text))).toBeLessThan(1000)
  })
})

it.each([
  ['A', true],
  ['API_KEY_2', true],
  [`A${'_'.repeat(63)}`, true],
  [`A${'_'.repeat(64)}`, false],
  ['_A', false],
  ['2A', false],
  ['a', false],
  ['A\n', false],
  ['', false],
])('a secret may be called %j: %j', (name, may) => {
  expect(isSecretName(name)).toBe(may)
})
