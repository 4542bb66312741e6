import { expect, it } from 'vitest'
import { requestBody } from './request-body.ts'

const big = '{"n":12345678901234567890, "a":1,"a":2}'

it.each([
  [big, {}, big],
  [big, { 'content-type': 'text/xml' }, big],
  ['"<x/>"', { 'Content-Type': 'text/xml' }, '<x/>'],
  ['"a\\nb \\u00e9"', { 'CONTENT-TYPE': 'text/plain' }, 'a\nb é'],
  ['"text"', {}, '"text"'],
  ['"text"', { 'content-type': 'application/json' }, '"text"'],
  ['"text"', { 'content-type': 'application/cloudevents+json; charset=utf-8' }, '"text"'],
  ['null', { 'content-type': 'text/plain' }, 'null'],
])('sends %s with %j as %s', (payload, headers, body) => {
  expect(requestBody(payload, headers)).toBe(body)
})
