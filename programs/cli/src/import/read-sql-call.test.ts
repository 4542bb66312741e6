import { stringifyJson } from '@belfry/client'
import { expect, it } from 'vitest'
import { readSqlCall } from './read-sql-call.ts'

const call = (sql: string) => {
  const surroundings = { lookUp: (name: string) => `<${name}>`, onComputed: () => {} }
  const { name, args } = readSqlCall(sql, one => one === 'net.http_get', surroundings)
  return [name, Object.fromEntries(args)]
}

it.each([
  [`select net.http_get('https://example.com')`, { 0: 'https://example.com' }],
  [`SELECT net.http_get(url := 'a' || 'b' || 3) AS id;`, { url: 'ab3' }],
  [`select net.http_get(url => $x$it's$$ 1$x$::text) -- a call`, { url: "it's$$ 1" }],
  [`select /* one ; */ net.http_get(E'a\\'b\\n', null)`, { 0: "a'b\n", 1: null }],
  [
    `select net.http_get('it''s', headers := json_build_object('a', 'b', 'c', 1))`,
    { 0: "it's", headers: { a: 'b', c: 1 } },
  ],
  [`select net.http_get(concat('a', (1), now(), null, current_date))`, { 0: 'a1' }],
  [`select status from net.http_get('a')`, { 0: 'a' }],
  [
    `select net.http_get('a' || (select decrypted_secret from vault.decrypted_secrets where name = 'key' limit 1))`,
    { 0: 'a<key>' },
  ],
  [
    `select net.http_get((select s.decrypted_secret from vault.decrypted_secrets s where s.name = 'key'))`,
    { 0: '<key>' },
  ],
  [`select net.http_get(array['a', ('b', 'c')]::text[])`, { 0: ['a', ['b', 'c']] }],
])('reads %s', (sql, args) => {
  expect(call(sql)).toEqual(['net.http_get', args])
})

it('keeps all digits of numbers', () => {
  const sql = `select net.http_get('a' || 12345678901234567890 || 1.10, jsonb_build_object('n', 9007199254740993, 'm', 1.5))`
  expect(stringifyJson(call(sql))).toBe(
    '["net.http_get",{"0":"a123456789012345678901.10","1":{"n":9007199254740993,"m":1.5}}]',
  )
})

it.each([
  ['vacuum', /not one call/],
  [`select net.http_get('a'); select net.http_get('b')`, /does more than call a URL/],
  [`insert into calls select net.http_get('a')`, /does more than call a URL: insert/],
  [`select net.http_get('a') from customers`, /does more than call a URL: from customers/],
  [`select net.http_get(url) from customers`, /depends on url/],
  [`select net.http_get('a' || md5('b'))`, /depends on md5\(\)/],
  [`select net.http_get((select url from hooks limit 1))`, /reads the database/],
  [`select net.http_get('a'`, /not complete/],
  [`select net.http_get('a' 'b')`, /It has b in place of ,/],
  [`select net.http_get('a`, /depends on '/],
])('refuses %s', (sql, reason) => {
  expect(() => call(sql)).toThrow(reason)
})
