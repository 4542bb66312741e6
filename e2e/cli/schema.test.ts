import { Readable } from 'node:stream'
import { runCli } from '@belfry/cli/run-cli'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { shop } from './shop-configuration.ts'

it('the schema accepts a file, and finds misspelt fields and wrong values', async () => {
  let text = ''
  const write = (part: string) => {
    text += part
  }
  const io = {
    env: {},
    stdin: Readable.from([]),
    stdout: { write },
    stderr: { write },
    signal: new AbortController().signal,
  }
  expect(await runCli(['schema'], io)).toBe(0)
  const validate = new Ajv2020({ strict: false, formats: { 'date-time': true, email: true } }).compile(JSON.parse(text))
  const accepts = (file: string) => validate(parse(file))
  expect([accepts(shop), validate.errors]).toEqual([true, null])
  for (const [from, to] of [
    ['cron: 0 3 * * *', 'crom: 0 3 * * *'],
    ['max_concurrent: 3', 'max_concurrent: many'],
    ['channel: slack', 'channel: pager'],
    ['topic: orders.*, ', ''],
    ['project: shop', ''],
  ] as const) {
    expect(accepts(shop.replace(from, to))).toBe(false)
  }
})
