import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { parse } from 'yaml'
import { repositoryRoot } from '../repository-root.ts'
import { checkTypes } from './check-types.ts'
import { deliverTo, isReceiver, runModule } from './modules.ts'
import { type Block, readPages } from './read-pages.ts'
import { runEndlessShell, runShell } from './shell.ts'
import { openStage, type Stage } from './stage.ts'

/** Languages of blocks that are not checked, with the reason. The tests below check all others. */
const unchecked: Record<string, string> = {
  '': 'drawings, and files of other programs',
  ini: 'units of systemd',
  typescript: 'declarations of the client reference',
  hcl: 'configurations of the Terraform provider, which its own test validates',
  prisma: 'models for the schema of a reader',
  python: 'programs of the Python client, which its own tests run',
  sql: 'tables of the examples, which their test creates',
}

const blocks = readPages().flatMap(page => page.blocks)
const checked = blocks.filter(({ mark }) => mark?.kind !== 'not run')
const of = (...languages: string[]) => checked.filter(({ language }) => languages.includes(language))
const nameOf = ({ page, line }: Block) => `${page}:${line}`
const named = (some: Block[]) => some.map(block => [nameOf(block), block] as const)

let stage: Stage
beforeAll(async () => {
  stage = await openStage()
}, 300_000)
afterAll(async () => {
  vi.unstubAllEnvs()
  await stage?.close()
})

it('every block has a language that is checked, or a reason why it is not', () => {
  const known = new Set([...Object.keys(unchecked), 'sh', 'ts', 'js', 'json', 'yaml'])
  expect(blocks.filter(({ language }) => !known.has(language)).map(nameOf)).toEqual([])
  const silent = blocks.filter(({ mark }) => mark && mark.kind !== 'runs until stopped' && mark.text === '')
  expect(silent.map(nameOf)).toEqual([])
})

it('says how many blocks are run, and runs no fewer than before', () => {
  const notRun = blocks.filter(({ mark }) => mark?.kind === 'not run')
  const count = (some: Block[], ...languages: string[]) =>
    some.filter(({ language }) => languages.includes(language)).length
  console.log(
    `${blocks.length} blocks: ${count(checked, 'sh', 'ts', 'js')} run, ${count(checked, 'json', 'yaml')} parsed, ` +
      `${notRun.length} not run, and the unchecked languages`,
  )
  expect(notRun.length).toBeLessThanOrEqual(51)
})

it('says of each block that is not run which test runs it, what it is a part of, or what it needs, takes or changes', () => {
  const wrong = blocks.filter(({ mark }) => {
    if (mark?.kind !== 'not run') return false
    const [, path = null] = /^(?:run by|part of) (\S+)$/.exec(mark.text) ?? []
    return path === null ? !/^(needs|takes|changes) \w/.test(mark.text) : !existsSync(join(repositoryRoot(), path))
  })
  expect(wrong.map(nameOf)).toEqual([])
})

describe('a wrong page fails', () => {
  const wrong = { page: 'docs/wrong.md', line: 1, mark: null }

  it('because it does not compile', async () => {
    const text = "import { Belfry } from '@belfry/client'\nawait new Belfry().tasks.create({ url: 'x' })"
    const complaints = await checkTypes(stage.project.folder, [{ ...wrong, language: 'ts', text }])
    expect(complaints).toContain('docs-wrong-1.ts(2,')
  }, 120_000)

  it('because the API rejects a request', async () => {
    const text = 'curl -H "X-Api-Key: $BELFRY_API_KEY" $BELFRY_URL/api/v1/scheduler/task'
    const { code, error } = await runShell(stage, [{ ...wrong, language: 'sh', text }])
    expect(code).not.toBe(0)
    expect(error).toContain('404')
  })
})

describe('data', () => {
  it.each(named(of('json')))('%s is JSON', (_name, { text }) => {
    expect(JSON.parse(text)).toBeTypeOf('object')
  })

  it.each(named(of('yaml')))('%s is YAML', (_name, { text }) => {
    expect(parse(text)).toBeTypeOf('object')
  })
})

describe('TypeScript', () => {
  it('has no type errors', async () => {
    const all = blocks.filter(({ language }) => language === 'ts')
    expect(await checkTypes(stage.project.folder, all)).toBe('')
  }, 300_000)

  it.concurrent.each(named(of('ts', 'js').filter(block => !isReceiver(block))))(
    '%s runs',
    async (_name, block) => {
      const { code, out, error } = await runModule(stage, block)
      expect(error).toBe('')
      expect(code).toBe(block.mark?.kind === 'runs until stopped' ? null : 0)
      if (block.mark?.kind === 'prints') expect(out).toContain(block.mark.text)
    },
    120_000,
  )

  it.each(named(of('ts').filter(isReceiver)))(
    '%s accepts only deliveries of Belfry',
    async (_name, block) => {
      vi.stubEnv('BELFRY_SIGNING_SECRET', stage.signingSecret)
      const { ours, forged } = await deliverTo(stage, block)
      expect(ours).toBeGreaterThanOrEqual(200)
      expect(ours).toBeLessThan(300)
      expect(forged).toBeGreaterThanOrEqual(400)
    },
    120_000,
  )
})

describe('shell', () => {
  const ending = of('sh').filter(({ mark }) => mark?.kind !== 'runs until stopped')

  it.each([...new Set(ending.map(({ page }) => page))])(
    'the commands of %s work, from the top to the bottom',
    async page => {
      const own = ending.filter(block => block.page === page)
      const { code, out, error, outputs } = await runShell(stage, own)
      expect(code, out + error).toBe(0)
      for (const { line, mark } of own) if (mark?.kind === 'prints') expect(outputs.get(line)).toContain(mark.text)
    },
    300_000,
  )

  it.concurrent.each(named(of('sh').filter(({ mark }) => mark?.kind === 'runs until stopped')))(
    '%s runs until it is stopped',
    async (_name, block) => {
      const { code, error } = await runEndlessShell(stage, block)
      expect(code, error).toBe(null)
    },
    60_000,
  )
})
