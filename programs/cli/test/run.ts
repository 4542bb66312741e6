import { runCli } from '../src/run-cli.ts'

/** Runs a command in this process, and returns what it prints. */
export async function run(
  args: string[],
  env: Record<string, string> = { BELFRY_API_KEY: 'bf_key' },
  input = '',
  signal = new AbortController().signal,
) {
  const printed = { out: '', error: '' }
  const collect = (name: 'out' | 'error') => ({
    write(text: string) {
      printed[name] += text
    },
  })
  const stdin = (async function* () {
    yield input
  })()
  const streams = { stdin, stdout: collect('out'), stderr: collect('error') }
  const code = await runCli(args, { env, signal, ...streams })
  return { code, ...printed }
}
