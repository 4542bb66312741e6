import { describe, expect, it } from 'vitest'
import { bash, go, node, php, python } from './escapers.ts'
import { leaksOf, sampleValues, shortest } from './leaks.ts'

const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 1e9)
const count = Number(process.env.FUZZ_EXAMPLES ?? 3_000)
const maxShown = 20

describe(`redaction hides ${count} random values (FUZZ_SEED=${seed})`, () => {
  it.each([node, bash, python, go, php])('as $name escapes them', escapers => {
    if (!escapers.isPresent()) throw new Error(`This test needs ${escapers.name}.`)
    expect(leaksOf(escapers, sampleValues(count, seed)).slice(0, maxShown)).toEqual([])
  })
})

// `samples.test.ts` has no need for these programs.
it('the committed samples are what the escapers write; --update writes them again', async () => {
  const values = [shortest, ...sampleValues(10, 5)]
  const byLanguage = [bash, python, go, php].map(escapers => [escapers.name, escapers.escape(values)])
  const samples = { values, ...Object.fromEntries(byLanguage) }
  await expect(`${JSON.stringify(samples, null, 1)}\n`).toMatchFileSnapshot('samples.json')
})
