import { describe, expect, it } from 'vitest'
import { bash, go, node, php, python } from './escapers.ts'
import { leaksOf, sampleValues, shortest } from './leaks.ts'

const seed = Number(process.env.FUZZ_SEED ?? Date.now() % 1e9)
const count = Number(process.env.FUZZ_EXAMPLES ?? 3_000)
const maxShown = 20
const programs = [node, bash, python, go, php]

describe(`redaction hides ${count} random values (FUZZ_SEED=${seed})`, () => {
  for (const escapers of programs) {
    it.skipIf(!escapers.isPresent())(`as ${escapers.name} escapes them, if it is installed`, async () => {
      expect((await leaksOf(escapers, sampleValues(count, seed))).slice(0, maxShown)).toEqual([])
    })
  }
})

// `samples.test.ts` has no need for these programs.
it.skipIf(!programs.every(escapers => escapers.isPresent()))(
  'the committed samples are what Node, bash, Python, Go and PHP write; --update writes them again',
  async () => {
    const values = [shortest, ...sampleValues(10, 5)]
    const byLanguage = programs.map(escapers => [escapers.name, escapers.escape(values)])
    const samples = { values, ...Object.fromEntries(byLanguage) }
    await expect(`${JSON.stringify(samples, null, 2)}\n`).toMatchFileSnapshot('samples.json')
  },
)
