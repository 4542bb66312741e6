import { propertyRuns } from '@belfry/test-support/property-runs'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { fillLabels, labelForm, labelTemplateForm } from './label.ts'

const payload = JSON.stringify({
  ...{ id: 'a-1', total: 1.5, paid: false, none: null, list: [1], empty: '', spaced: 'a b', long: 'x'.repeat(100) },
  order: { id: 42, 'line-1': { 0: 'z' } },
}).replace('42', '12345678901234567890')

it.each([
  ['order:{{ payload.id }}', 'order:a-1'],
  ['{{payload.id}}', 'a-1'],
  ['order={{  payload.order.id  }}', 'order=12345678901234567890'],
  ['{{ payload.order.line-1.0 }}', 'z'],
  ['total:{{ payload.total }}', 'total:1.5'],
  ['paid:{{ payload.paid }}', 'paid:false'],
  ['none:{{ payload.none }}', null],
  ['list:{{ payload.list }}', null],
  ['list:{{ payload.list.0 }}', null],
  ['order:{{ payload.order }}', null],
  ['missing:{{ payload.missing }}', null],
  ['missing:{{ payload.id.more }}', null],
  ['spaced:{{ payload.spaced }}', null],
  ['empty:{{ payload.empty }}', 'empty:'],
  ['{{ payload.empty }}', null],
  ['{{ payload.long }}', 'x'.repeat(100)],
  ['l{{ payload.long }}', null],
])('%s becomes %s', (label, expected) => {
  expect(label).toMatch(labelTemplateForm)
  expect(fillLabels(['kept', label], payload)).toEqual(expected === null ? ['kept'] : ['kept', expected])
  expect(fillLabels([label, 'kept'], null)).toEqual(['kept'])
})

it('has each label once', () => {
  expect(fillLabels(['id:a-1', 'id:{{ payload.id }}', 'id:{{payload.id}}'], payload)).toEqual(['id:a-1'])
})

it.each([
  '{{ payload }}',
  '{{ payload. }}',
  '{{ payload.a..b }}',
  '{{ secrets.A }}',
  'a:{{ payload.b }}c',
  ':{{ payload.a }}',
])('%s is no such label', text => expect(text).not.toMatch(labelTemplateForm))

it('makes valid labels of any payload', () => {
  const label = fc.constantFrom('a', 'b:{{ payload.a }}', '{{ payload.a.b }}', '{{ payload.b }}')
  const value = fc.oneof(
    fc.json(),
    fc.record({ a: fc.jsonValue(), b: fc.string() }).map(each => JSON.stringify(each)),
  )
  fc.assert(
    fc.property(fc.array(label), value, (labels, payload) => {
      const filled = fillLabels(labels, payload)
      for (const each of filled) expect(each).toMatch(labelForm)
      if (labels.includes('{{ payload.b }}')) expect(new Set(filled).size).toBe(filled.length)
    }),
    { numRuns: propertyRuns(1_000), seed: 5 },
  )
})
