import { createCronJobBody } from '@belfry/contract/cron-job'
import { toJsonSchema } from '@belfry/contract/openapi/json-schema'
import { optionFields } from '@belfry/contract/openapi/option-fields'
import { Command } from 'commander'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { run } from '../../test/run.ts'
import { addCompletion } from '../commands/completion.ts'
import { bodyOf, withFields } from './field-options.ts'

/** Returns the fields of a cron job's body that has four fields more. */
function fieldsOfLater() {
  const body = createCronJobBody.safeExtend({
    priority: z
      .int()
      .min(1)
      .max(9)
      .optional()
      .meta({ description: 'Higher ones start first, 1 to 9. Null: no order.' }),
    warm_up: z.strictObject({ delay_ms: z.int().min(1_000).max(60_000).default(30_000), regions: z.array(z.string()) }),
    once: z.boolean().default(false),
    speed: z.enum(['fast', 'careful']).default('careful').meta({ description: 'How the call is made.' }),
  })
  const components = {}
  return optionFields(toJsonSchema(body, 'input', components), components)
}

function programOfLater() {
  let printed = ''
  const write = (text: string) => {
    printed += text
  }
  const program = new Command('belfry').exitOverride().configureOutput({ writeOut: write, writeErr: write })
  const create = withFields(program.command('create').argument('<url>'), fieldsOfLater())
  addCompletion(program, {
    env: {},
    stdin: (async function* () {})(),
    stdout: { write },
    stderr: { write },
    signal: AbortSignal.timeout(1),
  })
  return {
    create,
    async prints(...args: string[]) {
      printed = ''
      await program.parseAsync(args, { from: 'user' }).catch(() => {})
      return printed.replace(/\s+/g, ' ')
    },
  }
}

it('a new field of a body has an option in the help and in the completion of shells', async () => {
  const { prints } = programOfLater()
  const help = await prints('create', '--help')
  expect(help).toContain('--priority <n> higher ones start first (1 to 9)')
  expect(help).toContain('--speed <speed> how the call is made (default: careful) (choices: "fast", "careful")')
  const completion = await prints('completion', 'bash')
  expect(completion).toMatch(/' create'\) echo '.*--priority .*--warm-up-region .*--speed/)
  expect(completion).toContain(`' create --speed') echo 'fast careful'`)
})

it('the values of options become the body that the client takes', () => {
  const { create } = programOfLater()
  create.action(() => {})
  const parse = (...args: string[]) =>
    bodyOf(
      fieldsOfLater(),
      create.parse(['https://example.com', '--cron', '0 0 * * *', ...args], { from: 'user' }).opts(),
    )
  expect(
    parse(
      '--priority',
      '3',
      '--once',
      '--warm-up-region',
      'a',
      '--warm-up-region',
      'b',
      '--max-age',
      '1m',
      '--on-success',
      'http://a',
    ),
  ).toEqual({
    cron: '0 0 * * *',
    priority: 3,
    once: true,
    warmUp: { regions: ['a', 'b'] },
    maxAgeMs: 60_000,
    onSuccess: { url: 'http://a' },
  })
})

it('a list of a kind without filters takes no filter, and shows as many as wanted', async () => {
  const listed = (...options: string[]) => run(['list', 'hosts', '--url', 'nowhere', ...options])
  expect((await listed('--limit', '3')).error).toContain('not a URL')
  expect((await listed('--response-status', '500')).error).toContain('--response-status does not apply to hosts')
})

it('a field that is neither true nor false by default takes one of both words', async () => {
  const listed = (value: string) => run(['tasks', 'list', '--upcoming', value, '--url', 'nowhere'])
  expect((await listed('maybe')).error).toContain('Allowed choices are true, false.')
  expect((await listed('false')).error).toContain('not a URL')
})

it('commands have an option for each field, which says its default and its limits', async () => {
  const { out } = await run(['schedule', 'https://example.com', '--help'])
  const text = out.replace(/\s+/g, ' ')
  expect(text).toContain('--on-past <past>')
  expect(text).toContain('--retries <n> the maximum number of retries (0 to 20; default: 5)')
  expect(text).toMatch(/--timeout <time> the time limit of an attempt[^(]*\(1s to 15m; default: 30s\)/)
  expect(text).not.toMatch(/--(payload-base64|execute-at|target-url)/)
})
