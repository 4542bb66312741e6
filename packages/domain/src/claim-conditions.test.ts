import { cpuTimeOf } from '@belfry/test-support/cpu-time'
import { describe, expect, it } from 'vitest'
import { checkConditions, unmetCondition } from './claim-conditions.ts'

describe('checkConditions', () => {
  it.each([
    { repository: 'acme/app' },
    { repository: 'acme/*', ref: '*' },
    { sub: 'repo:acme/app:ref:refs/heads/main' },
    { sub: 'repo:acme/*' },
    { sub: 'system:serviceaccount:ci:runner' },
    { repository_owner: 'acme', environment: 'production' },
    { repository_id: '42' },
    { project_path: 'acme/app', 'https://example.com/team': 'a' },
  ])('accepts %j', conditions => {
    expect(checkConditions(conditions)).toEqual([])
  })

  it.each([
    {},
    { ref: 'refs/heads/main' },
    { environment: 'production' },
    { repository: '*' },
    { repository: 'acme*' },
    { repository: '*/app' },
    { repository: '/*' },
    { repository_owner: 'acme*' },
    { sub: 'repo:*' },
    { sub: 'spiffe://*' },
    { sub: 'repo:/*' },
    { sub: 'repo:acme*/app' },
    { sub: 'system:serviceaccount:ci:*' },
  ])('refuses %j, which names no owner', conditions => {
    expect(checkConditions(conditions)).toEqual([{ name: '', must: expect.stringContaining('name the owner') }])
  })

  it.each([
    [{ repository: 'acme/app', ref: 1 }, 'ref'],
    [{ repository: 'acme/app', ref: '' }, 'ref'],
    [{ repository: 'acme/app', ref: 'a\u0000b' }, 'ref'],
    [{ repository: `acme/${'a'.repeat(500)}` }, 'repository'],
    [{ repository: 'acme/app', 'a b': 'c' }, ''],
    [{ repository: 'acme/app', ['a'.repeat(101)]: 'c' }, ''],
    [Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`c${i}`, 'x'])), ''],
  ])('refuses malformed ones (%#)', (conditions, name) => {
    expect(checkConditions(conditions)).toMatchObject([{ name }])
  })
})

describe('unmetCondition', () => {
  it.each([
    [{ ref: 'refs/heads/main' }, { ref: 'refs/heads/main' }],
    [{ ref: 'refs/tags/v*' }, { ref: 'refs/tags/v1.2' }],
    [{ sub: 'repo:acme/*:environment:*' }, { sub: 'repo:acme/app:environment:production' }],
    [{ a: '*' }, { a: '' }],
    [{ a: 'x**y' }, { a: 'xy' }],
    [
      { a: '42', b: 'true' },
      { a: 42, b: true },
    ],
  ])('finds none for %j and %j', (conditions, claims) => {
    expect(unmetCondition(conditions, claims)).toBeNull()
  })

  it.each([
    [{ ref: 'refs/heads/main' }, { ref: 'refs/heads/main2' }],
    [{ ref: 'refs/heads/main' }, { ref: 'REFS/heads/main' }],
    [{ ref: 'refs/*' }, {}],
    [{ ref: '*' }, { ref: null }],
    [{ ref: '*' }, { ref: ['refs/heads/main'] }],
    [{ ref: 'ab*ba' }, { ref: 'aba' }],
    [{ ref: 'a*b*c' }, { ref: 'acb' }],
    [{ ref: 'a.c' }, { ref: 'abc' }],
    [{ constructor: '*' }, {}],
    [{ toString: '*' }, {}],
  ])('finds that of %j and %j', (conditions, claims) => {
    expect(unmetCondition(conditions, claims)).toBe(Object.keys(conditions)[0])
  })

  it('takes no longer for many stars', () => {
    const pattern = `${'a*'.repeat(200)}b`
    const compare = () => expect(unmetCondition({ ref: pattern }, { ref: 'a'.repeat(10_000) })).toBe('ref')
    expect(cpuTimeOf(compare)).toBeLessThan(1_000)
  })
})
