import { expect, it } from 'vitest'
import { checkLabels, parseLabels } from './flow-draft.ts'

it.each([
  ['', []],
  [' customer:42,  vip vip\n', ['customer:42', 'vip']],
  ['a order:{{ payload.order_id }}, b', ['a', 'order:{{ payload.order_id }}', 'b']],
])('reads %j', (text, labels) => {
  expect(parseLabels(text)).toEqual(labels)
  expect(parseLabels(labels.join(' '))).toEqual(labels)
  expect(checkLabels(text)).toBeNull()
})

it.each(['ü', 'a:{{ payload }}', '{{ payload.a }}b', '{{', 'a'.repeat(101)])('refuses %j', text => {
  expect(checkLabels(text)).toContain('may have letters')
})
