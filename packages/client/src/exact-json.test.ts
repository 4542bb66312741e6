import { expect, it } from 'vitest'
import { ExactNumber, isChanged, parseJson, stringifyJson } from './exact-json.ts'

it.each([
  '12345678901234567890',
  '-9007199254740993',
  '0.12345678901234567890123',
  '9876543210.1234567',
  '-99999999999.123456',
  '1e400',
  '-1E-400',
  '61e9540',
  '9007199254740993e1',
])('keeps all digits of %s', text => {
  const value = parseJson(`{"a": [${text}]}`) as { a: [ExactNumber] }
  expect(value.a[0]).toBeInstanceOf(ExactNumber)
  expect([String(value.a[0]), Number(value.a[0])]).toEqual([text, Number(text)])
  expect(stringifyJson(value)).toBe(`{"a":[${text}]}`)
})

it.each(['0', '-0', '1.10', '1e3', '1E+2', '5e-324', '9007199254740991', '100000000000000000000000', '0.1', '1e21'])(
  'leaves %s to JavaScript',
  text => {
    expect([isChanged(text), parseJson(text)]).toEqual([false, JSON.parse(text)])
  },
)

it('takes no text for a number, and no member for another', () => {
  const text = '{"s":"12345678901234567890 \\"1e400\\" \\\\","__proto__":{"n":12345678901234567890},"t":"exact 1"}'
  expect(stringifyJson(parseJson(text))).toBe(text)
  expect(() => parseJson('{"a":12345678901234567890')).toThrow(SyntaxError)
})

it('parses as JSON.parse does where no digit is lost, and writes what it has read', () => {
  const signs = ['', '-']
  const wholes = ['0', '1', '9007199254740993', '100000000000000000000', '12345678901234567']
  const fractions = ['', '.0', '.10', '.00000000000000000001', '.12345678901234567', '.5000000000000000000']
  const exponents = ['', 'e0', 'E+2', 'e-3', 'e22', 'e308', 'e-400', 'e9540']
  for (const sign of signs)
    for (const whole of wholes)
      for (const fraction of fractions)
        for (const exponent of exponents) {
          const number = sign + whole + fraction + exponent
          const { n } = parseJson(`{"s":"e400","n":${number}}`) as { n: unknown }
          expect(Number(n)).toBe(Number(number))
          if (isChanged(number)) expect(stringifyJson(n)).toBe(number)
          else expect(n).toBe(JSON.parse(number))
        }
})
