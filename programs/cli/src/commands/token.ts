import { appendFile } from 'node:fs/promises'
import { BelfryError, exchangeToken } from '@belfry/client'
import type { Command } from 'commander'
import type { Context } from '../context.ts'
import { UsageError } from '../usage-error.ts'

type ExchangeOptions = { audience?: string; githubEnv?: true }

const timeoutMs = 30_000

export function addToken(program: Command, context: () => Context): void {
  const token = program.command('token').description('exchange the token of a CI job for an API key')
  token
    .command('exchange')
    .description('print an API key that expires soon, in exchange for the OpenID Connect token of this job')
    .argument('<credential>', 'the id of a federated credential, fed_...')
    .option('--audience <audience>', 'the audience of the token on GitHub Actions (default: the URL of Belfry)')
    .option('--github-env', 'set BELFRY_API_KEY for the next steps on GitHub Actions, instead of printing the key')
    .addHelpText(
      'after',
      '\nThe token is that of $BELFRY_ID_TOKEN, or on GitHub Actions that of the job, which needs "id-token: write".',
    )
    .action(async (credential: string, { audience, githubEnv }: ExchangeOptions) => {
      const ctx = context()
      const file = ctx.env.GITHUB_ENV
      if (githubEnv && !file) throw new UsageError('--github-env works on GitHub Actions only: GITHUB_ENV is not set.')
      const { baseUrl } = ctx.server()
      const wanted = audience ?? (baseUrl && new URL(baseUrl).origin)
      const exchanged = await exchangeToken({
        federatedCredentialId: credential,
        token: ctx.env.BELFRY_ID_TOKEN || (await tokenOfGithub(ctx, wanted)),
        ...(baseUrl && { baseUrl }),
      })
      if (!githubEnv || !file) return ctx.out.show(exchanged, exchanged.key)
      // The runner hides the key in all later output.
      ctx.stdout.write(`::add-mask::${exchanged.key}\n`)
      await appendFile(file, `BELFRY_API_KEY=${exchanged.key}\n`)
    })
}

async function tokenOfGithub({ env, signal }: Context, audience: string | undefined): Promise<string> {
  const { ACTIONS_ID_TOKEN_REQUEST_URL: address, ACTIONS_ID_TOKEN_REQUEST_TOKEN: secret } = env
  if (!address || !secret) {
    throw new UsageError(
      'There is no token. On GitHub Actions the job needs the permission "id-token: write"; elsewhere set BELFRY_ID_TOKEN.',
    )
  }
  const url = new URL(address)
  if (audience) url.searchParams.set('audience', audience)
  const response = await fetch(url, {
    headers: { Authorization: `Bearer ${secret}`, Accept: 'application/json' },
    redirect: 'error',
    signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
  }).catch(cause => {
    throw new BelfryError('GitHub Actions does not answer the request for a token.', { cause })
  })
  const answer: unknown = await response.json().catch(() => null)
  const { value } = (answer ?? {}) as { value?: unknown }
  if (!response.ok || typeof value !== 'string') {
    throw new BelfryError(`GitHub Actions answered ${response.status} to the request for a token.`)
  }
  return value
}
