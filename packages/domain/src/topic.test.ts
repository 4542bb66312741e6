import { cpuTimeOf } from '@belfry/test-support/cpu-time'
import { propertyRuns } from '@belfry/test-support/property-runs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isTopic, isTopicPattern, patternsOf } from './topic.ts'

describe('a topic', () => {
  it.each(['orders', 'orders.paid', 'a.b.c', 'A-1_b.0', '-', 'a'.repeat(200)])('may be %s', text => {
    expect(isTopic(text)).toBe(true)
    expect(isTopicPattern(text)).toBe(true)
  })

  it.each(['', '.', 'a.', '.a', 'a..b', 'a b', 'a*', 'é', 'a/b', 'a.b\n', 'a'.repeat(201)])('may not be %j', text => {
    expect(isTopic(text)).toBe(false)
    expect(isTopicPattern(text)).toBe(false)
  })

  it('is parsed in linear time', () => {
    const parse = () => {
      for (const text of [`${'a.'.repeat(100)}!`, `${'a'.repeat(199)}!`]) expect(isTopic(text)).toBe(false)
    }
    expect(cpuTimeOf(parse)).toBeLessThan(500)
  })
})

describe('a pattern', () => {
  it.each(['*', 'orders.*', 'orders.eu.*'])('may be %s, which is not a topic', text => {
    expect(isTopicPattern(text)).toBe(true)
    expect(isTopic(text)).toBe(false)
  })

  it.each(['**', '.*', '*.*', '*.paid', 'orders.*.paid', 'orders*', 'orders.**', 'orders.*.*'])(
    'may not be %s',
    text => {
      expect(isTopicPattern(text)).toBe(false)
    },
  )
})

describe('patternsOf', () => {
  it.each([
    ['orders', ['orders', '*']],
    ['orders.paid', ['orders.paid', '*', 'orders.*']],
    ['a.b.c', ['a.b.c', '*', 'a.*', 'a.b.*']],
  ])('lists all that %s matches', (topic, patterns) => {
    expect(patternsOf(topic)).toEqual(patterns)
  })

  it('agrees with comparing a topic to a pattern letter by letter', () => {
    const part = fc.constantFrom('a', 'b', 'ab')
    const topic = fc.array(part, { minLength: 1, maxLength: 4 }).map(parts => parts.join('.'))
    const pattern = fc.oneof(
      topic,
      topic.map(text => `${text}.*`),
      fc.constant('*'),
    )
    const matches = (text: string, by: string) =>
      by === '*' || by === text || (by.endsWith('.*') && text.startsWith(by.slice(0, -1)))
    fc.assert(
      fc.property(topic, pattern, (text, by) => {
        expect(patternsOf(text).includes(by)).toBe(matches(text, by))
      }),
      { numRuns: propertyRuns(2_000) },
    )
  })
})
